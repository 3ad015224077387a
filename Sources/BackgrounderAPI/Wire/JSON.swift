package import FoundationEssentials
import SystemSupport

/// The JSON dialect of the socket, the commands and the store: sorted keys, times as in ``ISO8601``.
package enum JSON {
    /// Encodes `value`.
    ///
    /// - Throws: `EncodingError`.
    package static func encode(_ value: some Encodable, pretty: Bool = false) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(ISO8601.string(date))
        }
        return try encoder.encode(value)
    }

    /// Encodes `value` on one line.
    ///
    /// - Throws: `EncodingError`.
    package static func line(_ value: some Encodable) throws -> String {
        String(decoding: try encode(value), as: UTF8.self)
    }

    /// Decodes a value.
    ///
    /// - Throws: `DecodingError`.
    package static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let date = ISO8601.date(text) else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "\(text) is not an ISO 8601 time"
                )
            }
            return date
        }
        return try decoder.decode(type, from: data)
    }
}
