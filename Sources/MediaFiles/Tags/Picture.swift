import FoundationEssentials

/// A picture embedded in a sound file, or next to it.
package struct Picture: Hashable, Sendable {
    /// The media type, such as `image/jpeg`, if the file states it.
    package var type: String?
    package var bytes: [UInt8]
    /// Whether the picture shows the front cover.
    var isFrontCover: Bool

    /// Tuned: larger pictures are ignored; they would take the memory of a client's request.
    package static let mostBytes = 16 << 20

    /// Creates a picture; returns nil if it is empty, too large, or an address instead of a picture.
    package init?(type: String?, bytes: [UInt8], isFrontCover: Bool) {
        // `-->` means that the bytes are an address instead of a picture.
        guard !bytes.isEmpty, bytes.count <= Self.mostBytes, type != "-->" else { return nil }
        self.type = type.flatMap { $0.isEmpty ? nil : Metadata.line($0) }
        self.bytes = bytes
        self.isFrontCover = isFrontCover
    }

    /// Parses a FLAC picture block (RFC 9639, 8.8): kind, type, description, four dimensions, bytes.
    init?(block: inout TagBytes) {
        guard let kind = block.bigEndian32(), let typeLength = block.bigEndian32(), typeLength <= 256,
            let type = block.read(typeLength), let description = block.bigEndian32(), block.skip(description),
            block.skip(16), let count = block.bigEndian32(), count <= Self.mostBytes, let bytes = block.read(count)
        else { return nil }
        self.init(type: String(decoding: type, as: UTF8.self), bytes: bytes, isFrontCover: kind == 3)
    }

    init?(base64 text: [UInt8]) {
        guard let data = Data(base64Encoded: Data(text)) else { return nil }
        var bytes: [UInt8]? = Array(data)
        var block = TagBytes {
            defer { bytes = nil }
            return bytes
        }
        self.init(block: &block)
    }
}

extension Picture {
    /// Chooses one of a file's pictures: the first front cover, else the first picture.
    struct Choice: Sendable {
        private(set) var picture: Picture?
        /// Tuned: the pictures of a file that are read; more are not album art.
        private var left = 16

        /// Whether a better picture may follow.
        var isOpen: Bool { left > 0 && picture?.isFrontCover != true }

        mutating func offer(_ read: () -> Picture?) {
            guard isOpen else { return }
            left -= 1
            if let new = read(), picture == nil || new.isFrontCover { picture = new }
        }
    }
}
