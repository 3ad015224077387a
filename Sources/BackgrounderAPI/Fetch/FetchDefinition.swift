import SystemSupport

/// `POST /v1/fetch`: a source as its user describes it.
package struct FetchDefinition: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// The shortest custom interval, in seconds.
    package static let shortestInterval = 60.0
    /// The longest custom interval, in seconds: a year.
    package static let longestInterval = 31_536_000.0
    /// The longest budget of a run, in seconds.
    package static let longestBudget = 30.0
    package static let longestName = 64

    package var name: String
    /// Either `url` or `command` is present.
    package var url: String?
    /// The program and its arguments.
    package var command: [String]?
    package var kind: FetchKind
    package var interval: FetchInterval
    /// Seconds.
    package var budget: Double
    /// The absolute path of the folder that a feed's enclosures go to.
    package var download: String?
    /// The working directory of the command; `/` if absent.
    package var directory: String?
    /// The absolute path of a file with credentials for the server, readable only by its owner.
    package var credentials: String?

    /// Creates a fetch definition.
    package init(
        name: String,
        url: String? = nil,
        command: [String]? = nil,
        kind: FetchKind? = nil,
        interval: FetchInterval = .never,
        budget: Double = longestBudget,
        download: String? = nil,
        directory: String? = nil,
        credentials: String? = nil
    ) {
        self.name = name
        self.url = url
        self.command = command
        self.kind = kind ?? (url == nil ? .raw : .feed)
        self.interval = interval
        self.budget = budget
        self.download = download
        self.directory = directory
        self.credentials = credentials
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, url, command, kind, interval, budget, download, directory, credentials
    }

    /// Decodes a definition; absent keys have the defaults of the initializer.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try container.decode(String.self, forKey: .name),
            url: try container.decodeIfPresent(String.self, forKey: .url),
            command: try container.decodeIfPresent([String].self, forKey: .command),
            kind: try container.decodeIfPresent(FetchKind.self, forKey: .kind),
            interval: try container.decodeIfPresent(FetchInterval.self, forKey: .interval) ?? .never,
            budget: try container.decodeIfPresent(Double.self, forKey: .budget) ?? Self.longestBudget,
            download: try container.decodeIfPresent(String.self, forKey: .download),
            directory: try container.decodeIfPresent(String.self, forKey: .directory),
            credentials: try container.decodeIfPresent(String.self, forKey: .credentials)
        )
    }
}

extension FetchDefinition {
    /// A fault that the definition shows by itself, in one line with the remedy; `nil` if there is none.
    package var problem: String? {
        Self.problem(ofName: name) ?? contentProblem ?? interval.problem ?? Self.problem(ofBudget: budget)
            ?? downloadProblem ?? directoryProblem ?? credentialsProblem
    }

    /// Returns the fault of a name, which appears in paths, logs and messages; `nil` if it is valid.
    package static func problem(ofName name: String) -> String? {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x80...: true
            default: false
            }
        }
        guard isPlain, name == name.withoutControlCharacters, let first = name.utf8.first, first != 0x2D, first != 0x2E,
            name.utf8.count <= longestName
        else {
            return
                "\(name.withoutControlCharacters.debugDescription) is not a valid source name; use 1 to \(longestName) letters, digits, - . or _, not beginning with - or ."
        }
        return nil
    }

    /// Returns the fault of a budget in seconds; `nil` if it is valid.
    package static func problem(ofBudget budget: Double) -> String? {
        guard budget > 0, budget <= longestBudget else {
            return "the budget is out of range; use more than 0 and at most \(Int(longestBudget)) s"
        }
        return nil
    }

    private var contentProblem: String? {
        switch (url, command) {
        case (let url?, nil): return FetchAddress.problem(of: url)
        case (nil, let command?):
            guard let program = command.first, !program.isEmpty else { return "the command is empty" }
            return command.contains { $0.utf8.contains(0) } ? "the command contains a NUL" : nil
        case (nil, nil): return "a source needs a URL or a command"
        case (_?, _?): return "a URL and a command exclude each other; use one of them"
        }
    }

    private var directoryProblem: String? {
        guard let directory, !directory.hasPrefix("/") || directory.utf8.contains(0) else { return nil }
        return "\(directory.debugDescription) is not an absolute path of a folder"
    }

    private var credentialsProblem: String? {
        guard let credentials else { return nil }
        if url == nil { return "a command cannot use credentials; omit --credentials" }
        return credentials.hasPrefix("/") && !credentials.utf8.contains(0)
            ? nil : "\(credentials.debugDescription) is not an absolute path of a file"
    }

    private var downloadProblem: String? {
        guard let download else { return nil }
        if kind != .feed { return "only a feed has enclosures to download; omit --download, or use --kind feed" }
        return download.hasPrefix("/") && !download.utf8.contains(0)
            ? nil : "\(download.debugDescription) is not an absolute path of a folder"
    }
}

extension FetchInterval {
    /// The fault of the interval; `nil` if it is valid.
    package var problem: String? {
        guard case .custom(let seconds) = self else { return nil }
        if seconds >= FetchDefinition.shortestInterval, seconds <= FetchDefinition.longestInterval { return nil }
        return
            "the interval is out of range; use never, minimum or 60s to 365d (for urgent content, use `fetch run` or push)"
    }

    /// Parses `never`, `minimum` or a duration; returns `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        switch text {
        case "never": self = .never
        case "minimum": self = .minimum
        default:
            guard let duration = Durations.duration(text) else { return nil }
            self = .custom(duration.seconds)
        }
    }

    /// The interval as a user writes it.
    package var text: String {
        switch self {
        case .never: "never"
        case .minimum: "minimum"
        case .custom(let seconds): Durations.text(.milliseconds((seconds * 1000).rounded()))
        }
    }
}

/// Checks the syntax of web addresses. Nothing is looked up.
package enum FetchAddress {
    private static let longest = 2048  // Tuned: what browsers and servers accept.

    /// Returns why `text` cannot be fetched; `nil` for an http or https URL with a host and without credentials.
    package static func problem(of text: String) -> String? {
        let name = text.count > 80 ? String(text.prefix(80)) + "…" : text
        guard text.utf8.count <= longest else { return "the URL has more than \(longest) bytes" }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return
                "\(name.debugDescription) is not a valid URL; write blanks, control characters and non-ASCII letters as %XX"
        }
        let lower = text.lowercased()
        guard let scheme = ["http://", "https://"].first(where: lower.hasPrefix) else {
            return "\(name.debugDescription) is not a web address; use a URL that begins with http:// or https://"
        }
        let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else {
            return "the URL must not contain credentials because it is shown and logged; use --credentials FILE"
        }
        guard isAuthority(authority) else { return "\(name.debugDescription) has no valid host and port" }
        return nil
    }

    private static func isAuthority(_ text: Substring) -> Bool {
        var rest = text
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]"),
                rest[rest.index(after: rest.startIndex)..<end].allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
            else { return false }
            rest = rest[rest.index(after: end)...]
        } else {
            let host = rest.prefix { $0 != ":" }
            guard !host.isEmpty, host.allSatisfy({ $0.isLetter || $0.isNumber || "-._~%".contains($0) }) else {
                return false
            }
            rest = rest[host.endIndex...]
        }
        guard let colon = rest.first else { return true }
        guard colon == ":" else { return false }
        let port = rest.dropFirst()
        return port.isEmpty || (Int(port).map { (1...65_535).contains($0) } ?? false)
    }
}
