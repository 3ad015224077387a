import FoundationEssentials

/// Packs numbers as their bytes; an unknown number is NaN.
struct PackedNumbers {
    private var numbers: [Double] = []

    init() {
        numbers.reserveCapacity(96)
    }

    /// In the machine's byte order, which is little-endian wherever Swift runs.
    var data: Data { numbers.withUnsafeBytes { Data($0) } }

    mutating func add(_ number: Double?) { numbers.append(number ?? .nan) }
    mutating func add(_ count: Int) { numbers.append(Double(count)) }
    mutating func add(_ flag: Bool) { numbers.append(flag ? 1 : 0) }
}

/// Unpacks the numbers of a ``PackedNumbers``.
struct UnpackedNumbers {
    /// The data was not packed in this way.
    struct Unknown: Error {}

    private let data: Data
    private var offset = 0

    init(_ data: Data) {
        self.data = data
    }

    mutating func next() throws -> Double {
        guard offset + 8 <= data.count else { throw Unknown() }
        defer { offset += 8 }
        return data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Double.self) }
    }

    mutating func optional() throws -> Double? {
        let number = try next()
        return number.isNaN ? nil : number
    }

    mutating func count() throws -> Int {
        guard let count = Int(exactly: try next()), count >= 0 else { throw Unknown() }
        return count
    }

    mutating func flag() throws -> Bool { try next() == 1 }
}
