import BackgrounderAPI
import FoundationEssentials

/// What a message says: which source has news. It can name sources only; nothing else in it is ever used.
struct PushMessage: Hashable, Sendable {
    var source: String
    /// The sender's own: a message that comes again has the same.
    var id: String
    /// Absent: it is silent.
    var alert: String?

    /// Reads `{"content-available": 1, "source": NAME, "id": TEXT, "expires": EPOCH, "alert": TEXT}`, the last two optional.
    init(_ payload: [UInt8], now: Date) throws(PushRejection) {
        guard payload.count <= PushJudgement.payloadLimit else { throw .oversize }
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

/// Why a message leads to nothing: the words that they are counted by.
package enum PushRejection: String, Error, Hashable, CaseIterable, Sendable {
    /// The broker had kept it; it says nothing about now.
    case retained
    case duplicate
    case expired
    case oversize
    case malformed
    /// It names no source.
    case unknown

    package var description: String {
        switch self {
        case .retained: "it is a retained one"
        case .duplicate: "one with this id came before"
        case .expired: "it has expired"
        case .oversize: "it has more than \(PushJudgement.payloadLimit) bytes"
        case .malformed:
            #"it is not {"content-available": 1, "source": NAME, "id": TEXT}, with "expires": EPOCH and "alert": TEXT at will"#
        case .unknown: "it names no source that is configured"
        }
    }
}

extension PushIgnored {
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
