package import FoundationEssentials
import SystemSupport

extension Routes {
    package static let pushes = Route<Empty, [PushStatus]>(.get, "/v1/push")
    package static let addPush = Route<PushRequest, PushStatus>(.post, "/v1/push", status: 201, access: .execute)
    package static let removePush = Route<Empty, Empty>(.delete, "/v1/push/{name}", status: 204)
    package static let simulatePush = Route<PushSimulation, PushOutcome>(.post, "/v1/push/{name}/simulate")
}

/// The body of `POST /v1/push`: a topic of a broker.
package struct PushRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var name: String
    /// A ``BrokerAddress``.
    package var url: String
    /// A ``TopicFilter``.
    package var topic: String
    /// The absolute path of a file with user and password, readable only by its owner.
    package var credentials: String?

    /// Creates a push request.
    package init(name: String, url: String, topic: String, credentials: String? = nil) {
        self.name = name
        self.url = url
        self.topic = topic
        self.credentials = credentials
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, url, topic, credentials
    }
}

extension PushRequest {
    private static let longestName = 64

    /// A fault that the request shows by itself, in one line with the remedy; `nil` if there is none.
    package var problem: String? {
        if let problem = nameProblem { return problem }
        do throws(BrokerAddressError) { _ = try BrokerAddress(url) } catch { return error.description }
        do throws(TopicFilterError) { _ = try TopicFilter(topic) } catch { return error.description }
        guard let credentials else { return nil }
        return credentials.hasPrefix("/") && !credentials.utf8.contains(0)
            ? nil : "\(credentials.debugDescription) is not an absolute path of a file"
    }

    /// The fault of the name, which appears in paths and in the log.
    private var nameProblem: String? {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x80...: true
            default: false
            }
        }
        guard isPlain, name == name.withoutControlCharacters, let first = name.utf8.first, first != 0x2D, first != 0x2E,
            name.utf8.count <= Self.longestName
        else {
            return
                "\(name.debugDescription) is not a valid push name; use 1 to \(Self.longestName) letters, digits, - . or _, not beginning with - or ."
        }
        return nil
    }
}

/// The body of `POST /v1/push/{name}/simulate`: a message as if the broker had sent it.
package struct PushSimulation: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var payload: String

    /// Creates a push simulation.
    package init(payload: String) {
        self.payload = payload
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case payload
    }
}

/// The effect of a message.
package struct PushOutcome: Codable, Hashable, Sendable {
    /// The kind of effect.
    package enum Kind: String, Codable, CaseIterable, Sendable {
        /// Its fetch has begun.
        case started
        /// Its fetch begins later because of the limit per hour, or because a fetch is running.
        case waiting
        /// The message has no effect.
        case ignored
    }

    package var outcome: Kind
    /// The source that it names; absent if the message is ignored.
    package var source: String?
    /// The earliest time of its fetch, if no newer message arrives; absent while a fetch is running.
    package var at: Date?
    /// Why it is ignored, as in ``PushIgnored``.
    package var reason: String?
    /// The reason in a sentence.
    package var detail: String?

    /// Creates a push outcome.
    package init(
        _ outcome: Kind,
        source: String? = nil,
        at: Date? = nil,
        reason: String? = nil,
        detail: String? = nil
    ) {
        self.outcome = outcome
        self.source = source
        self.at = at
        self.reason = reason
        self.detail = detail
    }
}
