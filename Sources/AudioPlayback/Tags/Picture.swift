import FoundationEssentials

/// A picture inside of a sound file.
package struct Picture: Hashable, Sendable {
    /// `image/jpeg`, where the file says it.
    package var type: String?
    package var bytes: [UInt8]
    /// It shows the front of the cover.
    var isFrontCover: Bool

    /// judgement: larger ones are left where they are
    package static let mostBytes = 16 << 20
    init?(type: String?, bytes: [UInt8], isFrontCover: Bool) {
        // `-->` says that an address follows in place of a picture.
        guard !bytes.isEmpty, bytes.count <= Self.mostBytes, type != "-->" else { return nil }
        self.type = type.flatMap { $0.isEmpty ? nil : Metadata.line($0) }
        self.bytes = bytes
        self.isFrontCover = isFrontCover
    }

    /// A FLAC picture block (RFC 9639, 8.8): kind, type, description, four measures, bytes.
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
    /// Takes one of a file's pictures: the first that shows the front of the cover, else the first.
    struct Choice: Sendable {
        private(set) var picture: Picture?
        // judgement: pictures of one file that are looked at
        private var left = 16

        /// A better one may come.
        var isOpen: Bool { left > 0 && picture?.isFrontCover != true }

        mutating func offer(_ read: () -> Picture?) {
            guard isOpen else { return }
            left -= 1
            if let new = read(), picture == nil || new.isFrontCover { picture = new }
        }
    }
}
