import BackgrounderAPI
import FoundationEssentials
import MQTTClient

/// The content of a push message: the source to fetch, and an optional alert.
///
/// A message can only name a configured source; it cannot supply a URL or a command.
struct PushMessage: Hashable, Sendable {
    var source: String
    /// The sender's identifier; the same when a message is delivered again.
    var id: String
    /// The text to show; `nil` for a silent message.
    var alert: String?

    /// Parses `{"content-available": 1, "source": NAME, "id": TEXT, "expires": SECONDS, "alert": TEXT}`; the last two are
    /// optional.
    init(_ payload: [UInt8], now: Date) throws(PushRejection) {
        guard payload.count <= MQTTLimits.payloadLimit else { throw .oversize }
        guard String(validating: payload, as: UTF8.self) != nil,
            let fields = try? JSONDecoder().decode(Fields.self, from: Data(payload))
        else { throw .malformed }
        guard fields.contentAvailable == 1, !fields.id.isEmpty, !fields.source.isEmpty else { throw .malformed }
        if let expires = fields.expires {
            guard expires > 0 else { throw .malformed }
            guard expires > now.timeIntervalSince1970 else { throw .expired }
        }
        (source, id) = (fields.source, fields.id)
        alert = fields.alert.flatMap { $0.isEmpty ? nil : $0 }
    }

    private struct Fields: Decodable {
        var contentAvailable: Double
        var source: String
        var id: String
        var expires: Double?
        var alert: String?

        enum CodingKeys: String, CodingKey {
            case contentAvailable = "content-available"
            case source, id, expires, alert
        }
    }
}

/// Why a message is ignored. The raw values name the counters.
package enum PushRejection: String, Error, Hashable, CaseIterable, Sendable {
    /// The broker retained it, so it may be old.
    case retained
    case duplicate
    case expired
    case oversize
    case malformed
    /// Its source is not configured.
    case unknown

    /// The reason as a clause about "it", the message.
    package var description: String {
        switch self {
        case .retained: "retained messages are ignored"
        case .duplicate: "a message with this id was received before"
        case .expired: "it has expired"
        case .oversize: "it is larger than \(MQTTLimits.payloadLimit) bytes"
        case .malformed:
            #"it is not {"content-available": 1, "source": NAME, "id": TEXT}, optionally with "expires": SECONDS and "alert": TEXT"#
        case .unknown: "its source is not configured"
        }
    }
}

extension PushIgnored {
    /// Adds one to the counter of `reason`.
    package mutating func count(_ reason: PushRejection) {
        switch reason {
        case .retained: retained += 1
        case .duplicate: duplicate += 1
        case .expired: expired += 1
        case .oversize: oversize += 1
        case .malformed: malformed += 1
        case .unknown: unknown += 1
        }
    }
}
