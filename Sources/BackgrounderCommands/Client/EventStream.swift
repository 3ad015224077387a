import BackgrounderAPI
import FoundationEssentials
import SystemSupport

extension Client {
    /// Calls `body` with each event of the service, until `body` returns false or the connection ends.
    ///
    /// - Parameters:
    ///   - attach: Whether this client counts as attached.
    ///   - observe: The interval of `time` events; `nil` for none.
    ///   - patience: The time limit; `nil` for none.
    /// - Throws: ``CommandFailure``, with exit code 3 if the connection ends, and ``CommandFailure/late`` after
    ///   `patience`.
    func events(
        attach: Bool,
        observe: Duration? = nil,
        patience: Duration? = nil,
        _ body: (Event) async throws -> Bool
    ) async throws {
        var query = attach ? [("attach", "1")] : []
        if let observe { query.append(("observe", Durations.text(observe))) }
        var parser = EventParser()
        for try await piece in try await stream(Routes.eventsPath, query: query, patience: patience) {
            for event in parser.feed(piece) {
                guard try await body(event) else { return }
            }
        }
        throw CommandFailure.lostConnection()
    }

    /// Attaches, and calls `body` with each event. While `body` runs, further events wait in the socket.
    ///
    /// - Returns: The reason for the end.
    func watch(_ body: (Event) throws -> Void) async -> CommandFailure {
        do {
            try await events(attach: true, observe: .seconds(1)) { event in
                try body(event)
                return true
            }
            return CommandFailure.lostConnection()
        } catch let failure as CommandFailure {
            return failure
        } catch {
            return CommandFailure("\(error)")
        }
    }
}

/// A parser of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), as far as the
/// service uses them: `event`, one line of `data`, and comments.
struct EventParser {
    private var line: [UInt8] = []
    private var name = ""
    private var data = Data()

    /// Returns the events that `bytes` completes. Unknown events, such as those of a later version, are skipped.
    mutating func feed(_ bytes: some Sequence<UInt8>) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            if line.isEmpty {
                if let event = try? Event(name: name, data: data) { events.append(event) }
                (name, data) = ("", Data())
            } else if let value = value(of: "event") {
                name = String(decoding: value, as: UTF8.self)
            } else if let value = value(of: "data") {
                data = Data(value)
            }
            line.removeAll(keepingCapacity: true)
        }
        return events
    }

    private func value(of field: String) -> ArraySlice<UInt8>? {
        let prefix = Array("\(field): ".utf8)
        return line.starts(with: prefix) ? line[prefix.count...] : nil
    }
}

extension Event {
    fileprivate init?(name: String, data: Data) throws {
        switch name {
        case "state": self = .state(try JSON.decode(StateSnapshot.self, from: data))
        case "location": self = .location(try JSON.decode(Location.self, from: data))
        case "currentItem": self = .currentItem(try JSON.decode(CurrentItem.self, from: data))
        case "time": self = .time(try JSON.decode(PlayerTime.self, from: data))
        case "lifecycle": self = .lifecycle(try JSON.decode(LifecycleState.self, from: data))
        case "task": self = .task(try JSON.decode(BackgroundTask.self, from: data))
        case "fetch": self = .fetch(try JSON.decode(FetchRun.self, from: data))
        case "transfer": self = .transfer(try JSON.decode(Transfer.self, from: data))
        case "health": self = .health(try JSON.decode(StorageHealth.self, from: data))
        case "place": self = .place(try JSON.decode(PlaceEvent.self, from: data))
        case "alert": self = .alert(try JSON.decode(PushAlert.self, from: data))
        default: return nil
        }
    }
}
