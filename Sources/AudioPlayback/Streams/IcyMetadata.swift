/// Separates the sound of a live stream from the blocks of metadata in it, as SHOUTcast and Icecast send them.
///
/// After each `interval` bytes of sound comes a byte with the length of a block, in units of 16 bytes, and the block.
struct IcyMetadata {
    enum Piece: Equatable {
        case sound([UInt8])
        /// The title of the sound that follows.
        case title(String)
    }

    private enum Expected {
        /// Bytes of sound that are left before the length of a block.
        case sound(Int)
        case length
        /// Bytes of the block that are left.
        case block(Int)
    }

    private let interval: Int
    private var expected: Expected
    /// At most 4,080 bytes.
    private var block: [UInt8] = []

    /// - Parameter interval: bytes, at least 1.
    init(interval: Int) {
        self.interval = interval
        expected = .sound(interval)
    }

    mutating func split(_ bytes: [UInt8]) -> [Piece] {
        var pieces: [Piece] = []
        var sound: [UInt8] = []
        var rest = bytes[...]
        while let first = rest.first {
            switch expected {
            case .sound(let left):
                let part = rest.prefix(left)
                sound += part
                rest = rest.dropFirst(part.count)
                expected = part.count == left ? .length : .sound(left - part.count)
            case .length:
                rest = rest.dropFirst()
                expected = first == 0 ? .sound(interval) : .block(Int(first) * 16)
            case .block(let left):
                let part = rest.prefix(left)
                block += part
                rest = rest.dropFirst(part.count)
                guard part.count == left else {
                    expected = .block(left - part.count)
                    continue
                }
                if let title = Self.title(in: block) {
                    if !sound.isEmpty { pieces.append(.sound(sound)) }
                    pieces.append(.title(title))
                    sound = []
                }
                block = []
                expected = .sound(interval)
            }
        }
        if !sound.isEmpty { pieces.append(.sound(sound)) }
        return pieces
    }

    /// Returns the value of `StreamTitle='…';`, which may be empty and may contain quotes; nil if the block has none.
    static func title(in block: [UInt8]) -> String? {
        let bytes = block.prefix { $0 != 0 }
        // Many stations send Latin-1.
        let text =
            String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        guard let start = text.firstRange(of: "StreamTitle='")?.upperBound else { return nil }
        let rest = text[start...]
        let end = rest.firstRange(of: "';")?.lowerBound ?? rest.lastIndex(of: "'") ?? rest.endIndex
        return String(rest[..<end])
    }
}
