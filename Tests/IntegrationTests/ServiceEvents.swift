import BackgrounderAPI
import Foundation
import TestSupport

/// A reader of `/v1/events`: curl on the Unix socket, with all received lines.
final class ServiceEvents: Sendable {
    private let reader: LineReader
    private let curl: ForegroundProcess

    /// - Parameter observe: the interval of `time` events; the service's default if `nil`.
    init(socket path: String, attach: Bool, observe: String?) throws {
        let pipe = try PipeEnds()
        let query = (attach ? ["attach=1"] : []) + (observe.map { ["observe=\($0)"] } ?? [])
        curl = try ForegroundProcess(
            Programs.curl,
            ["-sSN", "--unix-socket", path, "http://localhost/v1/events?\(query.joined(separator: "&"))"],
            descriptors: [1: pipe.writeEnd]
        )
        close(pipe.writeEnd)
        reader = LineReader(pipe.readEnd)
    }

    /// Closes the connection.
    func detach() { curl.kill() }

    /// All events so far.
    var received: ReceivedEvents { ReceivedEvents(lines: reader.lines) }

    /// Returns the first value that `look` finds in the events so far; `look` runs again after each new event.
    @discardableResult
    func wait<Value>(
        for what: String,
        within seconds: Double = 60,
        _ look: (ReceivedEvents) throws -> Value?
    ) async throws -> Value {
        try await reader.wait(for: what, within: seconds) { lines, isAtEnd in
            if let value = try look(ReceivedEvents(lines: lines)) { return value }
            if isAtEnd { throw StreamEnded(before: what) }
            return nil
        }
    }

    /// Returns the first state for which `look` is true.
    @discardableResult
    func wait(
        forState what: String,
        within seconds: Double = 60,
        _ look: (StateSnapshot) throws -> Bool
    ) async throws -> StateSnapshot {
        var seen = 0
        return try await wait(for: what, within: seconds) { received in
            let states = received.payloads("state")
            defer { seen = states.count }
            return try states[seen...].lazy.map { try Self.decode($0) }.first { try look($0) }
        }
    }

    /// Returns all events when the service has ended.
    func waitForEnd(within seconds: Double = 60) async throws -> ReceivedEvents {
        try await reader.wait(for: "end of the events", within: seconds) { lines, isAtEnd in
            isAtEnd ? ReceivedEvents(lines: lines) : nil
        }
    }

    private static func decode(_ payload: Substring) throws -> StateSnapshot {
        try JSON.decode(StateSnapshot.self, from: Data(payload.utf8))
    }
}

/// Received server-sent events, decoded on demand.
struct ReceivedEvents: Sendable {
    var lines: [String]

    func count(_ name: String) -> Int { payloads(name).count }

    func states() throws -> [StateSnapshot] { try decode("state") }
    func locations() throws -> [Location] { try decode("location") }
    func times() throws -> [PlayerTime] { try decode("time") }

    func payloads(_ name: String) -> [Substring] {
        let field = "event: \(name)"
        return zip(lines, lines.dropFirst()).filter { $0.0 == field }.map { $0.1.dropFirst("data: ".count) }
    }

    private func decode<Value: Decodable>(_ name: String) throws -> [Value] {
        try payloads(name).map { try JSON.decode(Value.self, from: Data($0.utf8)) }
    }
}

/// The stream ended before the event that the test waited for.
struct StreamEnded: Error, CustomStringConvertible {
    var before: String
    var description: String { "the events ended before: \(before)" }
}
