package import FoundationEssentials
import SystemSupport

extension Routes {
    package static let publishers = Route<Empty, [PublisherStatus]>(.get, "/v1/publish")
    package static let addPublisher = Route<PublisherRequest, PublisherStatus>(
        .post,
        "/v1/publish",
        status: 201,
        access: .execute
    )
    package static let publisher = Route<Empty, PublisherStatus>(.get, "/v1/publish/{name}")
    package static let removePublisher = Route<Empty, Empty>(.delete, "/v1/publish/{name}", status: 204)
    package static let pausePublisher = Route<Empty, PublisherStatus>(.post, "/v1/publish/{name}/pause")
    package static let resumePublisher = Route<Empty, PublisherStatus>(.post, "/v1/publish/{name}/resume")
    package static let rewindPublisher = Route<PublisherRewind, PublisherStatus>(.post, "/v1/publish/{name}/rewind")
}

/// The body of `POST /v1/publish`: where this machine publishes its points, and under which id.
package struct PublisherRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var name: String
    /// A ``PublisherAddress``.
    package var url: String
    /// A ``MachineID``.
    package var machine: String
    /// The user and the device of OwnTracks' topic, `USER/DEVICE`; default `fleet/ID`.
    package var owntracks: String?
    /// Whether to announce the machine to Home Assistant.
    package var homeAssistant: Bool?
    /// The groups whose commands the machine obeys, each like a ``MachineID``.
    package var groups: [String]?
    /// The absolute path of a file with user and password, readable only by its owner.
    package var credentials: String?
    /// The absolute path of the machine's certificate for TLS, in PEM.
    package var certificate: String?
    /// The absolute path of its key, readable only by its owner.
    package var key: String?
    /// Begin with the first point of this time or later; default: with the next point.
    package var since: Date?

    /// Creates a request.
    package init(
        name: String,
        url: String,
        machine: String,
        owntracks: String? = nil,
        homeAssistant: Bool? = nil,
        groups: [String]? = nil,
        credentials: String? = nil,
        certificate: String? = nil,
        key: String? = nil,
        since: Date? = nil
    ) {
        self.name = name
        self.url = url
        self.machine = machine
        self.owntracks = owntracks
        self.homeAssistant = homeAssistant
        self.groups = groups
        self.credentials = credentials
        self.certificate = certificate
        self.key = key
        self.since = since
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, url, machine, owntracks, homeAssistant, groups, credentials, certificate, key, since
    }
}

extension PublisherRequest {
    /// A fault that the request shows by itself, in one line with the remedy; `nil` if there is none.
    package var problem: String? {
        if (try? MachineID(name)) == nil {
            return "\(name.debugDescription) is not a valid name; use 1 to 64 of the characters a-z, 0-9, _ and -"
        }
        let address: PublisherAddress
        do throws(BrokerAddressError) { address = try PublisherAddress(url) } catch { return error.description }
        do throws(MachineIDError) { _ = try MachineID(machine) } catch { return error.description }
        // Its topics would be those of a group.
        if machine == "group" { return "a machine cannot have the id group; use another one" }
        if topic == nil {
            return
                "\((owntracks ?? "").debugDescription) is not USER/DEVICE; use two names of 1 to 64 of the characters a-z, A-Z, 0-9, _ and -"
        }
        if let group = (groups ?? []).first(where: { (try? MachineID($0)) == nil }) {
            return
                "\(group.debugDescription) is not a valid group; use 1 to 64 of the characters a-z, 0-9, _ and -"
        }
        if (groups ?? []).count > Self.mostGroups {
            return "the machine is in \((groups ?? []).count) groups; use at most \(Self.mostGroups)"
        }
        for path in [credentials, certificate, key].compactMap(\.self)
        where !path.hasPrefix("/") || path.utf8.contains(0) {
            return "\(path.debugDescription) is not an absolute path of a file"
        }
        guard (certificate == nil) == (key == nil) else {
            return "a certificate needs its key, and a key its certificate; add the other one"
        }
        if case .server(let url) = address, let problem = FetchAddress.problem(of: url) { return problem }
        if address.broker == nil, homeAssistant == true || groups?.isEmpty == false {
            return
                "only a broker can announce the machine to Home Assistant and bring commands to groups; use mqtt://HOST"
        }
        if certificate != nil, address.broker?.isSecure != true {
            return "a certificate needs TLS; use mqtts:// for the broker"
        }
        return nil
    }

    /// Whether a web server receives the points, in place of a broker.
    package var isForServer: Bool { if case .server = try? PublisherAddress(url) { true } else { false } }

    /// Tuned: each is a subscription.
    private static let mostGroups = 16

    /// The topic of the points; `nil` if `owntracks` is invalid.
    package var topic: String? {
        guard let owntracks else { return "owntracks/fleet/\(machine)" }
        let levels = owntracks.split(separator: "/", omittingEmptySubsequences: false)
        let areValid = levels.allSatisfy { (try? MachineID($0.lowercased())) != nil }
        return levels.count == 2 && areValid ? "owntracks/\(owntracks)" : nil
    }
}

/// The body of `POST /v1/publish/{name}/rewind`.
package struct PublisherRewind: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// Send all points since this time again.
    package var to: Date

    /// Creates a rewind.
    package init(to: Date) { self.to = to }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case to
    }
}
