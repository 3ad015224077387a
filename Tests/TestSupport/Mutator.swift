/// Damages valid input at random, in the same way for the same seed.
package struct Mutator {
    private var random: SeededGenerator
    /// Describes the last damage, for the message of a test.
    package private(set) var deed = ""

    package init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    package mutating func mutate(_ content: [UInt8]) -> [UInt8] {
        var bytes = content
        deed = ""
        for _ in 0..<Int.random(in: 1...3, using: &random) where bytes.count > 8 { mutateOnce(&bytes) }
        return bytes
    }

    private mutating func mutateOnce(_ bytes: inout [UInt8]) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        let length = min(bytes.count - place, Int.random(in: 1...5_000, using: &random))
        let range = place..<place + length
        switch Int.random(in: 0..<11, using: &random) {
        case 0:
            say("cut off at \(place)")
            bytes.removeSubrange(place...)
        case 1:
            say("\(length) bytes lost at \(place)")
            bytes.removeSubrange(range)
        case 2:
            say("\(length) zeros at \(place)")
            for index in range { bytes[index] = 0 }
        case 3:
            say("\(length) random bytes at \(place)")
            for index in range { bytes[index] = .random(in: 0...255, using: &random) }
        case 4:
            say("\(length) bytes inserted at \(place)")
            bytes.insert(contentsOf: (0..<length).map { _ in .random(in: 0...255, using: &random) }, at: place)
        case 5:
            say("\(length) bytes repeated at \(place)")
            bytes.insert(contentsOf: bytes[range], at: place)
        case 6:
            say("a flipped bit at \(place)")
            bytes[place] ^= 1 << Int.random(in: 0..<8, using: &random)
        default: lie(&bytes)
        }
    }

    /// Overwrites a number in the header, such as a size, a rate, a count or the length of a chunk.
    private mutating func lie(_ bytes: inout [UInt8]) {
        let extremes: [UInt32] = [0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFE, 0xFFFF_FFFF]
        let number = extremes.randomElement(using: &random) ?? 0
        // A place after a known mark if there is one, otherwise any place in the header.
        let marks = [
            "ID3", "Info", "Xing", "LAME", "RIFF", "fmt ", "data", "ds64", "COMM", "SSND", "fLaC", "OggS", "desc",
        ]
        let found = marks.compactMap { bytes.prefix(4_000).firstRange(of: Array($0.utf8))?.upperBound }
        let head = min(bytes.count, 200)
        let base = found.randomElement(using: &random) ?? 0
        let place = min(bytes.count - 8, base + Int.random(in: 0..<(found.isEmpty ? head : 24), using: &random))
        let count = [1, 2, 4].randomElement(using: &random) ?? 4
        say("\(count) bytes of \(number) at \(place)")
        for index in 0..<count { bytes[place + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
    }

    private mutating func say(_ words: String) { deed += deed.isEmpty ? words : ", " + words }
}
