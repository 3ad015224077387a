/// A key of the keyboard that the live view tells apart.
enum Key: Hashable, Sendable {
    case character(Character)
    case up, down, left, right
    case pageUp, pageDown
    case enter, tab, delete, escape
}

/// A parser of the bytes that a terminal sends for keys: UTF-8, and the escape sequences of ECMA-48 and xterm.
///
/// A key may arrive in several reads. Unknown and broken sequences are skipped. The memory is bounded: an overlong
/// sequence is read to its end, but not stored.
struct KeyParser {
    private enum State {
        case ground
        /// After Esc: the key itself, or the begin of a sequence.
        case escape
        /// After `Esc [`, with the parameters so far; `nil` if there were too many.
        case controlSequence([UInt8]?)
        /// After `Esc O`: an arrow or Enter in the application mode of the keypad.
        case singleShift
        /// After `Esc [ [`: a function key of the Linux console.
        case console
        /// Within a character of several bytes.
        case character([UInt8], missing: Int)
    }

    private var state = State.ground

    /// The longest sequence of a known key has three parameter bytes.
    private static let mostParameters = 8

    /// Whether a sequence has begun but is not complete. If nothing follows soon, call ``flush()``.
    var isWaiting: Bool {
        if case .ground = state { false } else { true }
    }

    /// Returns the keys that `bytes` completes.
    mutating func feed(_ bytes: some Sequence<UInt8>) -> [Key] {
        bytes.flatMap { receive($0) }
    }

    /// Ends an incomplete sequence: returns the key Esc if it was nothing else.
    mutating func flush() -> Key? {
        defer { state = .ground }
        if case .escape = state { return .escape }
        return nil
    }

    private mutating func receive(_ byte: UInt8) -> [Key] {
        switch state {
        case .ground: return begin(byte)
        case .escape:
            switch byte {
            case 0x1B: return [.escape]
            case UInt8(ascii: "["): state = .controlSequence([])
            case UInt8(ascii: "O"): state = .singleShift
            // A key with Alt has no meaning.
            default: state = .ground
            }
            return []
        case .controlSequence(let parameters): return receive(byte, after: parameters)
        case .singleShift:
            guard byte >= 0x20 else { return begin(byte) }
            state = .ground
            if byte == UInt8(ascii: "M") { return [.enter] }
            return Self.arrow(byte).map { [$0] } ?? []
        case .console:
            guard byte >= 0x20 else { return begin(byte) }
            state = .ground
            return []
        case .character(let bytes, let missing):
            guard byte & 0xC0 == 0x80 else { return begin(byte) }
            guard missing == 1 else {
                state = .character(bytes + [byte], missing: missing - 1)
                return []
            }
            state = .ground
            return String(validating: bytes + [byte], as: UTF8.self)?.first.map { [.character($0)] } ?? []
        }
    }

    private mutating func begin(_ byte: UInt8) -> [Key] {
        state = .ground
        switch byte {
        case 0x1B: state = .escape
        case 0x0A, 0x0D: return [.enter]
        case 0x09: return [.tab]
        case 0x20...0x7E: return [.character(Character(Unicode.Scalar(byte)))]
        case 0xC2...0xDF: state = .character([byte], missing: 1)
        case 0xE0...0xEF: state = .character([byte], missing: 2)
        case 0xF0...0xF4: state = .character([byte], missing: 3)
        default: break
        }
        return []
    }

    private mutating func receive(_ byte: UInt8, after parameters: [UInt8]?) -> [Key] {
        switch byte {
        case UInt8(ascii: "[") where parameters?.isEmpty == true: state = .console
        case 0x20...0x3F:
            state = .controlSequence(parameters.flatMap { $0.count < Self.mostParameters ? $0 + [byte] : nil })
        case 0x40...0x7E:
            state = .ground
            guard let parameters else { return [] }
            guard byte == UInt8(ascii: "~") else { return Self.arrow(byte).map { [$0] } ?? [] }
            return Self.editingKey(parameters.prefix { $0 != UInt8(ascii: ";") }).map { [$0] } ?? []
        default: return begin(byte)
        }
        return []
    }

    private static func arrow(_ byte: UInt8) -> Key? {
        switch byte {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        default: nil
        }
    }

    private static func editingKey(_ number: ArraySlice<UInt8>) -> Key? {
        switch String(decoding: number, as: UTF8.self) {
        case "3": .delete
        case "5": .pageUp
        case "6": .pageDown
        default: nil
        }
    }
}
