import BackgrounderAPI
import FoundationEssentials
import SystemSupport
import WebSupport

/// The fields of a command, read one by one.
struct CommandFields {
    /// Why a field is invalid.
    struct Fault: Error {
        var reason: String
    }

    let fields: [String: JSONTree]

    /// Reads the command with this id.
    func command(_ id: String) throws(Fault) -> FleetCommand {
        guard let expires = try time("expires") else {
            throw Fault(reason: "the field expires is missing; use seconds since 1970")
        }
        let order = try order()
        let at = try time("at")
        if let at, at >= expires { throw Fault(reason: "the time at is not before expires; use an earlier one") }
        return FleetCommand(order, id: id, expires: expires, at: at, to: try address())
    }

    private func order() throws(Fault) -> FleetCommand.Order {
        guard let name = try text("do") else {
            throw Fault(reason: "the field do is missing; use one of \(Self.orders)")
        }
        switch name {
        case "announce":
            guard let item = try text("item") else {
                throw Fault(reason: "the field item is missing; name a file of fleet.items")
            }
            guard ItemName.isValid(item) else {
                throw Fault(reason: "\(item.shown) is not the name of an item; use a relative path without . and ..")
            }
            let digest = try text("sha256")?.lowercased()
            if let digest, !SHA256.isDigest(digest) {
                throw Fault(reason: "the field sha256 is not 64 hexadecimal digits")
            }
            return .announce(item: item, sha256: digest, try sound())
        case "say":
            guard let text = try text("text") else {
                throw Fault(reason: "the field text is missing; set it to the text to say")
            }
            return .say(text: text, try sound())
        case "play": return .play
        case "pause": return .pause
        case "next": return .next
        case "volume":
            guard let text = try text("text"), let level = FleetCommand.volume(text) else {
                throw Fault(reason: "the text is not a volume; use 0% to 100%")
            }
            return .volume(level)
        case "fetch":
            let (item, text) = (try text("item"), try text("text"))
            guard let source = item ?? text else {
                throw Fault(reason: "the field item is missing; name a fetch source")
            }
            return .fetch(source: source)
        case "report": return .report
        case "status": return .status
        default: throw Fault(reason: "\(name.shown) is not a command; use one of \(Self.orders)")
        }
    }

    private static let orders = "announce, say, play, pause, next, volume, fetch, report, status"

    private func sound() throws(Fault) -> FleetCommand.Sound {
        let duck = try number("duck")
        if let duck, !(0...1).contains(duck) { throw Fault(reason: "the field duck is not a level; use 0 to 1") }
        let priority = try number("priority") ?? 0
        guard let whole = Int(exactly: priority) else {
            throw Fault(reason: "the field priority is not a whole number")
        }
        return FleetCommand.Sound(duck: duck, priority: whole)
    }

    private func address() throws(Fault) -> FleetCommand.Address? {
        func id(_ text: String) throws(Fault) -> MachineID {
            do { return try MachineID(text) } catch { throw Fault(reason: error.description) }
        }
        if let group = try text("group") { return .group(try id(group)) }
        guard let value = fields["to"] else { return nil }
        let fault = Fault(reason: "the field to is not a list of machine ids")
        guard case .list(let list) = value, !list.isEmpty else { throw fault }
        var ids: [MachineID] = []
        for value in list {
            guard case .text(let text) = value else { throw fault }
            ids.append(try id(text))
        }
        return .machines(ids)
    }

    /// Returns the text of a field, which is not empty; `nil` if the field is absent.
    private func text(_ name: String) throws(Fault) -> String? {
        guard let value = fields[name], value != .null else { return nil }
        guard case .text(let text) = value, text.contains(where: { !$0.isWhitespace }), !text.utf8.contains(0) else {
            throw Fault(reason: "the field \(name) is not a text, or it is empty")
        }
        return text
    }

    private func number(_ name: String) throws(Fault) -> Double? {
        switch fields[name] {
        case nil, .null?: return nil
        case .integer(let value)?: return Double(value)
        case .number(let value)?: return value
        default: throw Fault(reason: "the field \(name) is not a number")
        }
    }

    private func time(_ name: String) throws(Fault) -> Date? {
        guard let seconds = try number(name) else { return nil }
        // Tuned: until the year 5138. Later times would overflow elsewhere.
        guard (0..<1e11).contains(seconds) else {
            throw Fault(reason: "the field \(name) is not a time; use seconds since 1970")
        }
        return Date(timeIntervalSince1970: seconds)
    }
}

/// The name of an item: a path below `fleet.items`.
package enum ItemName {
    /// Returns whether `text` names a file below any folder.
    package static func isValid(_ text: String) -> Bool {
        // By bytes, as the file system reads it: to Swift, a combining mark makes another character of the slash before it.
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return !text.utf8.contains(UInt8(ascii: "\\")) && text.withoutControlCharacters == text
            && text.utf8.count <= 1024
            && parts.allSatisfy { !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
            && !text.contains("://")
    }
}

extension String {
    /// The text in quotes, shortened.
    fileprivate var shown: String { (count > 60 ? prefix(60) + "…" : self[...]).description.debugDescription }
}
