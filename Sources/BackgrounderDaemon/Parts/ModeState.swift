import BackgrounderAPI
import FoundationEssentials
import Logging
import StateStore

// The location and audio modes store their state as one value each, under the mode's name.

extension StateStore {
    /// Returns the state that `mode` saved last; `nil` on the first start, and if it cannot be read, which is logged.
    func state<Value: Decodable>(_ type: Value.Type, of mode: BackgroundMode, logger: Logger) throws -> Value? {
        guard let data = try state(mode.rawValue) else { return nil }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            logger.error("Cannot read the saved state of the \(mode.rawValue) mode: \(error); starting fresh")
            return nil
        }
    }
}

extension StateRecord {
    /// Encodes the state of `mode`. Unlike the encoder of the socket, a plain one keeps dates exactly.
    init(of mode: BackgroundMode, _ state: some Encodable) throws {
        self.init(name: mode.rawValue, value: try JSONEncoder().encode(state))
    }
}
