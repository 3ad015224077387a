package import BackgrounderAPI
package import FoundationEssentials
import MQTTClient
import SystemSupport

/// A command to machines of a fleet.
///
/// It names items, sources and texts; it can never carry a path, a URL or a program.
package struct FleetCommand: Hashable, Sendable {
    /// The action of a machine.
    package enum Order: Hashable, Sendable {
        /// Plays the item with this name over the music, or instead of it.
        case announce(item: String, sha256: String?, Sound)
        case say(text: String, Sound)
        case play, pause, next
        /// Sets the volume; 0 to 1.
        case volume(Double)
        case fetch(source: String)
        /// Sends the newest position.
        case report
        /// Sends the status document.
        case status
    }

    /// How an announcement sounds.
    package struct Sound: Hashable, Sendable {
        /// The level of the music meanwhile, 0 to 1; `nil` holds the music.
        package var duck: Double?
        package var priority: Int

        /// Creates a description.
        package init(duck: Double? = nil, priority: Int = 0) { (self.duck, self.priority) = (duck, priority) }
    }

    /// The machines that a command is for.
    package enum Address: Hashable, Sendable {
        case machines([MachineID])
        case group(MachineID)
    }

    package var id: String
    package var order: Order
    /// When it is too late.
    package var expires: Date
    /// When to execute it; `nil` for immediately.
    package var at: Date?
    /// The machines, repeated in the command, so that it cannot be sent to others once it is signed.
    package var address: Address?

    /// Creates a command.
    ///
    /// - Parameter id: a random one by default.
    package init(
        _ order: Order,
        id: String = UUID().uuidString.lowercased(),
        expires: Date,
        at: Date? = nil,
        to address: Address?
    ) {
        (self.order, self.id, self.expires, self.at, self.address) = (order, id, expires, at, address)
    }
}

/// Why a message is not a valid command.
package struct CommandFault: Error, Hashable, CustomStringConvertible {
    /// The command's id, if it has one to answer to.
    package var id: String?
    package var description: String
}

extension FleetCommand {
    /// Parses a message. It may have more fields.
    ///
    /// - Throws: ``CommandFault`` with the field, and what it must be.
    package init(_ content: [UInt8]) throws(CommandFault) {
        guard content.count <= MQTTLimits.payloadLimit else {
            throw CommandFault(description: "the command is larger than \(MQTTLimits.payloadLimit) bytes")
        }
        guard String(validating: content, as: UTF8.self) != nil,
            case .object(let fields) = try? JSONDecoder().decode(JSONTree.self, from: Data(content))
        else {
            throw CommandFault(description: "the command is not a JSON object")
        }
        guard let value = fields["id"] else { throw CommandFault(description: "the command has no id") }
        guard case .text(let id) = value, (1...128).contains(id.count), id.utf8.count <= 512 else {
            throw CommandFault(description: "the id is not a text of 1 to 128 characters")
        }
        do {
            self = try CommandFields(fields: fields).command(id)
        } catch {
            throw CommandFault(id: id, description: error.reason)
        }
    }

    /// Returns the volume, 0 to 1, in a text such as `60%` or `60`; `nil` if it is not one.
    package static func volume(_ text: String) -> Double? {
        let percent = text.hasSuffix("%") ? Double(text.dropLast()) : Int(text).map(Double.init)
        guard let percent, (0...100).contains(percent) else { return nil }
        return percent / 100
    }

    /// The command as JSON, without a signature.
    package var content: [UInt8] {
        get throws { Array(try tree.canonical) }
    }

    private var tree: JSONTree {
        var fields: [String: JSONTree] = ["id": .text(id), "expires": .time(expires)]
        fields["at"] = at.map { .time($0) }
        switch address {
        case .machines(let ids)?: fields["to"] = .list(ids.map { .text($0.description) })
        case .group(let group)?: fields["group"] = .text(group.description)
        case nil: break
        }
        func add(_ sound: Sound) {
            fields["duck"] = sound.duck.map { .number($0) }
            if sound.priority != 0 { fields["priority"] = .integer(Int64(sound.priority)) }
        }
        switch order {
        case .announce(let item, let sha256, let sound):
            fields["item"] = .text(item)
            fields["sha256"] = sha256.map { .text($0) }
            add(sound)
        case .say(let text, let sound):
            fields["text"] = .text(text)
            add(sound)
        case .volume(let level): fields["text"] = .text("\((level * 100).decimals(0))%")
        case .fetch(let source): fields["item"] = .text(source)
        case .play, .pause, .next, .report, .status: break
        }
        fields["do"] = .text(order.name)
        return .object(fields)
    }

    /// Returns the command with a signature.
    package func content(signedWith key: SigningKey) throws -> [UInt8] {
        guard case .object(var fields) = tree else { return [] }
        fields["sig"] = .text(try key.signature(of: try tree.canonical).base64EncodedString())
        return Array(try JSONTree.object(fields).canonical)
    }

    /// Returns whether one of the keys made the signature of a valid command.
    package static func isSigned(_ content: [UInt8], byOneOf keys: [VerifyingKey]) -> Bool {
        guard case .object(var fields) = try? JSONDecoder().decode(JSONTree.self, from: Data(content)),
            case .text(let text)? = fields.removeValue(forKey: "sig"), let signature = Data(base64Encoded: text),
            let signed = try? JSONTree.object(fields).canonical
        else { return false }
        return keys.contains { $0.accepts(signature, of: signed) }
    }
}

extension FleetCommand.Order {
    /// The value of the field `do`.
    package var name: String {
        switch self {
        case .announce: "announce"
        case .say: "say"
        case .play: "play"
        case .pause: "pause"
        case .next: "next"
        case .volume: "volume"
        case .fetch: "fetch"
        case .report: "report"
        case .status: "status"
        }
    }
}

extension JSONTree {
    /// Seconds since 1970, to the millisecond.
    fileprivate static func time(_ date: Date) -> JSONTree {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        let seconds = milliseconds / 1000
        return seconds == seconds.rounded() ? .integer(Int64(seconds)) : .number(seconds)
    }
}
