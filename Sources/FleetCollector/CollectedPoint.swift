import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// A point in a message of OwnTracks' format.
struct CollectedPoint: Hashable, Sendable {
    private struct Message: Decodable {
        struct Key: Decodable {
            var g: String
            var n: Int64
            var ms: Int64?
            var seg: Int?
        }

        var _type: String
        var tst: Int64
        var lat: Double
        var lon: Double
        var acc: Double?
        var alt: Double?
        var vel: Double?
        var cog: Double?
        var created_at: Double?
        var bg: Key?
    }

    var machine: String
    var generation: String
    var n: Int64
    /// Milliseconds since 1970.
    var time: Int64
    var latitude: Double
    var longitude: Double
    var accuracy: Double?
    /// Metres a second.
    var speed: Double?
    var course: Double?
    var altitude: Double?
    var beginsSegment: Bool
    /// When the machine stored it, in seconds since 1970.
    var recorded: Double?

    /// Parses a message.
    ///
    /// A message without our key, such as that of a phone, has the second of its time as number.
    ///
    /// - Parameter topic: `owntracks/USER/DEVICE`; the device is the machine.
    /// - Returns: `nil` for anything but a valid point.
    init?(topic: String, payload: [UInt8]) {
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 3, levels[0] == "owntracks", Self.isName(levels[2]),
            let message = try? JSONDecoder().decode(Message.self, from: Data(payload)), message._type == "location",
            (-90...90).contains(message.lat), (-180...180).contains(message.lon),
            // Tuned: the years that a timestamp of PostgreSQL and a person can read.
            (0..<253_402_300_800).contains(message.tst)
        else { return nil }
        let milliseconds = message.bg?.ms ?? 0
        guard (0..<1000).contains(milliseconds) else { return nil }
        machine = String(levels[2])
        generation = message.bg?.g ?? ""
        n = message.bg?.n ?? message.tst
        guard generation.isEmpty || Self.isName(generation) else { return nil }
        time = message.tst * 1000 + milliseconds
        (latitude, longitude) = (message.lat, message.lon)
        (accuracy, altitude, course) = (message.acc, message.alt, message.cog)
        speed = message.vel.map { $0 / 3.6 }
        beginsSegment = message.bg?.seg == 1
        recorded = message.created_at
        for value in [accuracy, altitude, course, speed].compactMap(\.self) where !(abs(value) < 1e9) { return nil }
    }

    /// Returns whether `text` is a ``MachineID``, or one with capital letters, which OwnTracks allows.
    private static func isName(_ text: some StringProtocol) -> Bool { (try? MachineID(text.lowercased())) != nil }

    /// Appends the line for `COPY`, in text format.
    func append(to text: inout TextBuffer) {
        text.append(text: machine)
        text.append("\t")
        text.append(text: generation)
        text.append("\t")
        text.append(text: String(n))
        text.append("\t")
        text.append(Double(time) / 1000, places: 3)
        text.append("\t")
        // PostgreSQL refuses numbers that are too small for their type.
        text.append(latitude, places: 7)
        text.append("\t")
        text.append(longitude, places: 7)
        for value in [accuracy, speed, course, altitude] {
            text.append("\t")
            if let value { text.append(value, places: 3) } else { text.append("\\N") }
        }
        text.append(beginsSegment ? "\tt\n" : "\tf\n")
    }
}
