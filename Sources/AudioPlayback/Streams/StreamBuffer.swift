import SystemSupport

/// The bytes of a stream between the network and the decoder, and the titles among them. Bounded by its writer.
struct StreamBuffer {
    /// Tuned: a stream is read no further ahead than this many bytes: 16 s at 128 kbit/s, 6 s at 320.
    static let limit = 1 << 18
    /// Tuned: titles that wait; a station sends one in minutes.
    private static let mostTitles = 16

    private var bytes: [UInt8] = []
    /// The bytes in front that were taken.
    private var taken = 0
    /// The titles that wait, each with the number of bytes before it.
    private var titles: [(distance: Int, text: String)] = []
    /// The title of the byte that was read last.
    private(set) var title: String?

    var count: Int { bytes.count - taken }
    var isFull: Bool { count >= Self.limit }
    /// Whether there is enough room to read more from the network, in few steps.
    var isHalfFree: Bool { count <= Self.limit / 2 }

    mutating func append(_ new: [UInt8]) {
        // Bytes that were taken are removed when they are as many as the others, so that each is moved once.
        if taken > count {
            bytes.removeFirst(taken)
            taken = 0
        }
        bytes += new
    }

    mutating func append(title: String) {
        if titles.count == Self.mostTitles { titles.removeFirst() }
        titles.append((count, title))
    }

    /// Moves up to `most` bytes into `memory`. Returns their number.
    mutating func take(into memory: UnsafeMutableRawPointer, _ most: Int) -> Int {
        let done = min(most, count)
        bytes.withUnsafeBytes {
            if let from = $0.baseAddress { memory.copyMemory(from: from + taken, byteCount: done) }
        }
        taken += done
        for index in titles.indices { titles[index].distance -= done }
        while let first = titles.first, first.distance <= 0 {
            title = first.text
            titles.removeFirst()
        }
        return done
    }
}
