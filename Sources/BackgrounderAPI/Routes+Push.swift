package import FoundationEssentials

extension Routes {
    package static let pushes = Route<Empty, [PushStatus]>(.get, "/v1/push")
    package static let addPush = Route<PushRequest, PushStatus>(.post, "/v1/push", status: 201, access: .execute)
    package static let removePush = Route<Empty, Empty>(.delete, "/v1/push/{name}", status: 204)
    package static let simulatePush = Route<PushSimulation, PushOutcome>(.post, "/v1/push/{name}/simulate")
}

/// `POST /v1/push`: a topic of a broker to listen to.
package struct PushRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var name: String
    /// A ``BrokerAddress``.
    package var url: String
    /// A ``TopicFilter``.
    package var topic: String
    /// The absolute path of a file with user and password that nobody else may read.
    package var credentials: String?

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

    /// What is wrong with it, as far as it tells itself: what, why and what to do.
    package var problem: String? {
        if let problem = nameProblem { return problem }
        do throws(BrokerAddressError) { _ = try BrokerAddress(url) } catch { return error.description }
        do throws(TopicFilterError) { _ = try TopicFilter(topic) } catch { return error.description }
        guard let credentials else { return nil }
        return credentials.hasPrefix("/") && !credentials.utf8.contains(0)
            ? nil : "\(credentials.debugDescription) is no absolute path of a file"
    }

    /// A name stands in paths and in the log.
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
                "\(name.debugDescription) is no name for a push: give 1 to \(Self.longestName) letters, digits, - . or _, the first none of - and ."
        }
        return nil
    }
}

/// `POST /v1/push/{name}/simulate`: a message as if it had come from the broker.
package struct PushSimulation: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var payload: String

    package init(payload: String) {
        self.payload = payload
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case payload
    }
}

/// What became of a message.
package struct PushOutcome: Codable, Hashable, Sendable {
    package enum Kind: String, Codable, CaseIterable, Sendable {
        /// Its fetch has begun.
        case started
        /// Its fetch begins later: there were enough of this source, or one is under way.
        case waiting
        /// It led to nothing.
        case ignored
    }

    package var outcome: Kind
    /// The source that it names; absent when it is ignored.
    package var source: String?
    /// When its fetch begins at the earliest, if no newer message comes; absent while one is under way.
    package var at: Date?
    /// Why it is ignored: the word that it is counted by.
    package var reason: String?
    /// The same in words for people.
    package var detail: String?

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
