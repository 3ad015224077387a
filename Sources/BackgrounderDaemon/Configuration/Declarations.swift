import BackgrounderAPI
import SystemSupport

/// The fetch sources, pushes, task hooks, transfer sessions and publishers that the configuration file declares by name.
struct Declarations: Hashable, Sendable {
    /// A section of the file that maps names to entries.
    enum Section: String, CaseIterable, Sendable {
        case sources = "fetch.sources"
        case pushes = "push.subscriptions"
        case hooks = "tasks.hooks"
        case sessions = "transfers.sessions"
        case publishers = "publish.brokers"

        /// The keys of its entries.
        var fields: [String] {
            switch self {
            case .sources:
                ["url", "exec", "interval", "kind", "budget", "download", "directory", "credentials"]
            case .pushes: ["mqtt", "topic", "credentials"]
            case .hooks: ["command", "directory", "environment", "budget", "grace", "strict", "repeat", "on"]
            case .sessions: ["discretionary", "exists", "sizeMax"]
            case .publishers:
                [
                    "mqtt", "http", "machine", "owntracks", "homeAssistant", "groups", "credentials", "certificate",
                    "key",
                ]
            }
        }
    }

    var sources: [FetchDefinition] = []
    var pushes: [PushRequest] = []
    var hooks: [TaskRequest] = []
    var sessions: [SessionDefinition] = []
    var publishers: [PublisherRequest] = []

    var isEmpty: Bool { self == Declarations() }

    /// Returns whether the entries of `section` equal those of `other`.
    func isSame(_ section: Section, as other: Declarations) -> Bool {
        switch section {
        case .sources: sources == other.sources
        case .pushes: pushes == other.pushes
        case .hooks: hooks == other.hooks
        case .sessions: sessions == other.sessions
        case .publishers: publishers == other.publishers
        }
    }
}

extension DeclaredEntry {
    /// Reads a fetch source; `nil` if it has a fault.
    mutating func fetchSource() -> FetchDefinition? {
        if let problem = FetchDefinition.problem(ofName: name) { fault(problem) }
        let url = text("url", allowed: "an http or https URL", FetchAddress.problem) { $0 }
        let exec = text("exec", allowed: "a shell command") { $0.isEmpty || $0.utf8.contains(0) ? nil : $0 }
        let kind = text("kind", allowed: "feed or raw") { FetchKind(rawValue: $0) }
        let interval = text("interval", allowed: "never, minimum, or a duration from 60s to 365d") { text in
            FetchInterval(text).flatMap { $0.problem == nil ? $0 : nil }
        }
        let budget = text("budget", allowed: "a duration of at most 30s") { text in
            Durations.duration(text)?.seconds.nonFaulty(FetchDefinition.problem)
        }
        let (download, folder, credentials) = (path("download"), path("directory"), path("credentials"))
        let definition = FetchDefinition(
            name: name,
            url: url,
            command: exec.map { ["/bin/sh", "-c", $0] },
            kind: kind,
            interval: interval ?? .never,
            budget: budget ?? FetchDefinition.longestBudget,
            download: download,
            directory: folder,
            credentials: credentials
        )
        switch (has("url"), has("exec")) {
        case (false, false): fault("a source needs a url or an exec; add one of them")
        case (true, true): fault("a source has a url or an exec, not both; remove one of them")
        case (false, true) where has("credentials"):
            fault("a command cannot use credentials; remove them", "credentials")
        case (true, false) where has("directory"): fault("only a command has a directory; remove it", "directory")
        case _ where has("download") && definition.kind != .feed:
            fault("only a feed has enclosures to download; remove it, or set kind: feed", "download")
        default: break
        }
        return faults.isEmpty ? definition : nil
    }

    /// Reads a push; `nil` if it has a fault.
    mutating func push() -> PushRequest? {
        let broker = text("mqtt", allowed: "mqtt://HOST[:PORT] or mqtts://HOST[:PORT]") { text in
            (try? BrokerAddress(text)).map { _ in text }
        }
        let topic = text("topic", allowed: "a topic such as home/news or home/+/news") { text in
            (try? TopicFilter(text)).map { _ in text }
        }
        let credentials = path("credentials")
        for field in ["mqtt", "topic"] where !has(field) { fault("a push needs \(field); add it") }
        guard faults.isEmpty, let broker, let topic else { return nil }
        let request = PushRequest(name: name, url: broker, topic: topic, credentials: credentials)
        if let problem = request.problem { fault(problem) }
        return faults.isEmpty ? request : nil
    }

    /// Reads a task hook; `nil` if it has a fault.
    mutating func hook() -> TaskRequest? {
        let command = texts("command", allowed: "a list with a program and its arguments, such as [rsync, -a, a/, b/]")
        let folder = path("directory")
        let environment = pairs("environment", allowed: "variables and their values, such as {RSYNC_RSH: ssh}")
        let (budget, grace) = (duration("budget"), duration("grace"))
        let event = text("on", allowed: "detach or place") { TaskHookEvent(rawValue: $0) }
        let request = TaskRequest(
            name: name,
            command: command ?? [],
            directory: folder,
            environment: environment,
            budget: budget?.seconds,
            grace: grace?.seconds,
            strict: flag("strict"),
            repeat: flag("repeat"),
            on: event
        )
        if let problem = request.nameProblem { fault(problem) }
        if let problem = request.environmentProblem { fault(problem, "environment") }
        if !has("command") { fault("a hook needs a command; add one such as command: [./sync.sh]") }
        do throws(TaskTimesError) {
            _ = try TaskTimes(budget: budget, grace: grace)
        } catch {
            switch error {
            case .budget: fault(error.description, "budget")
            case .grace: fault(error.description, "grace")
            }
        }
        return faults.isEmpty ? request : nil
    }

    /// Reads a transfer session; `nil` if it has a fault.
    mutating func session() -> SessionDefinition? {
        if !TransferRequest.isSession(name) {
            fault("\(name.debugDescription) is not a valid session name; use 1 to 100 bytes without slashes")
        }
        let exists = text("exists", allowed: "fail, overwrite or rename") { ExistingFile(rawValue: $0) }
        let size = text("sizeMax", allowed: "1 byte or more, such as 500, 20K, 10M or 2G") { ByteCount.bytes($0) }
        let definition = SessionDefinition(
            name: name,
            discretionary: flag("discretionary"),
            exists: exists,
            sizeMax: size
        )
        return faults.isEmpty ? definition : nil
    }

    /// Reads a publisher; `nil` if it has a fault.
    mutating func publisher() -> PublisherRequest? {
        let broker = text("mqtt", allowed: "mqtt://HOST[:PORT] or mqtts://HOST[:PORT]") { text in
            (try? BrokerAddress(text)).map { _ in text }
        }
        let server = text("http", allowed: "an http or https URL", FetchAddress.problem) { $0 }
        let machine = text("machine", allowed: "1 to 64 of the characters a-z, 0-9, _ and -") { text in
            (try? MachineID(text)).map { _ in text }
        }
        let owntracks = text("owntracks", allowed: "USER/DEVICE") { $0 }
        let (home, credentials) = (flag("homeAssistant"), path("credentials"))
        let groups = texts("groups", allowed: "a list of names, such as [red, north]")
        let (certificate, key) = (path("certificate"), path("key"))
        switch (has("mqtt"), has("http")) {
        case (false, false): fault("a publisher needs mqtt or http; add one of them")
        case (true, true): fault("a publisher has mqtt or http, not both; remove one of them")
        default: break
        }
        if !has("machine") { fault("a publisher needs machine; add it") }
        guard faults.isEmpty, let address = broker ?? server, let machine else { return nil }
        let request = PublisherRequest(
            name: name,
            url: address,
            machine: machine,
            owntracks: owntracks,
            homeAssistant: home,
            groups: groups,
            credentials: credentials,
            certificate: certificate,
            key: key
        )
        if let problem = request.problem { fault(problem) }
        return faults.isEmpty ? request : nil
    }

    private mutating func duration(_ field: String) -> Duration? {
        text(field, allowed: "a duration such as 500ms, 2s or 5m") { Durations.duration($0) }
    }

    private mutating func flag(_ field: String) -> Bool? {
        text(field, allowed: "true or false") { Keys.boolean($0) }
    }
}

extension Double {
    /// The number, unless `problem` finds a fault.
    fileprivate func nonFaulty(_ problem: (Double) -> String?) -> Double? { problem(self) == nil ? self : nil }
}
