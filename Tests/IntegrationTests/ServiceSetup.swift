import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// A test's configuration, if it needs another than the fixture's.
struct TestConfiguration {
    var modes = "[audio, location]"
    var source = "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=1"
    /// Additional lines of the section `location`.
    var location: [String] = []
    var driver = "null"
    /// Absolute paths.
    var queue: [String] = []
    var autoplay = false
    /// An absolute path.
    var musicDirectory: String?
    /// Lines after the sections above.
    var rest: [String] = []

    func yaml() throws -> String {
        let head = [
            "modes: \(modes)", "location:", "  source: \(try JSON.line(source))",
            "  usageDescription: Shows that what the service promises holds",
        ]
        let audio =
            [
                "audio:", "  driver: \(try JSON.line(driver))", "  queue: \(try JSON.line(queue))",
                "  autoplay: \(autoplay)",
            ] + (try musicDirectory.map { ["  musicDirectory: \(try JSON.line($0))"] } ?? [])
        let log = rest.contains { $0.hasPrefix("log:") } ? [] : ["log: {progress: every}"]
        // The web servers of tests have no TLS.
        let transfers = rest.contains { $0.hasPrefix("transfers:") } ? [] : ["transfers: {allowHTTP: [127.0.0.1]}"]
        return (head + location.map { "  " + $0 } + audio + rest + log + transfers).joined(separator: "\n") + "\n"
    }
}

extension Service {
    /// Creates a home with `configuration`; nothing runs yet.
    convenience init(_ configuration: TestConfiguration) throws {
        try self.init(source: configuration.source)
        try configure(configuration)
    }

    /// Replaces the configuration file; a running service uses it after a reload.
    func configure(_ configuration: TestConfiguration) throws {
        try configure(yaml: configuration.yaml())
    }

    func configure(yaml: String) throws {
        try scratch.write(yaml, to: "config.yaml")
    }

    /// Returns the lines of the log, oldest first.
    func logLines() -> [String] {
        [paths.log + ".1", paths.log]
            .compactMap { FileManager.default.contents(atPath: $0) }
            .flatMap { String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init) }
    }

    /// Returns the path of a file in the home.
    func file(_ name: String) -> String { RuntimePaths.absolute("\(home)/\(name)") }

    /// Starts the detached service with `variables` in its environment.
    func start(adding variables: [String: String]) async throws {
        let run = try await ProgramRun.of(
            Products.backgrounder,
            ["start"],
            environment: environment.merging(variables) { $1 }
        )
        try #require(run.exitCode == 0, "\(run)")
    }

    /// Runs `backgrounderd` in its own namespaces, after a script that prepares them, and returns when it is ready.
    ///
    /// - Parameters:
    ///   - options: options of unshare(1).
    ///   - script: shell commands to run in the namespaces first.
    func start(unsharing options: [String], after script: String = ":") async throws -> ForegroundProcess {
        let ready = try PipeEnds()
        let daemon = "exec '\(Products.backgrounderd)' --home '\(home)' --ready-descriptor 3"
        let process = try ForegroundProcess(
            "/usr/bin/unshare",
            options + [Programs.shell, "-ec", "\(script)\n\(daemon)"],
            environment: environment,
            descriptors: [3: ready.writeEnd]
        )
        close(ready.writeEnd)
        try await LineReader(ready.readEnd).wait(for: "readiness") { lines, isAtEnd in
            try #require(
                !isAtEnd || !lines.isEmpty,
                "unshare \(options) or \(script) fails here, and this test needs both"
            )
            return lines.isEmpty ? nil : true
        }
        return process
    }

    /// Returns a new connection to the control socket.
    func connection() throws -> HTTPConnection { try HTTPConnection(paths.controlSocket) }

    /// Runs `backgrounderd` with this home in the foreground, and returns its process and its stderr.
    func foreground(_ arguments: [String] = []) throws -> (process: ForegroundProcess, errors: LineReader) {
        let errors = try PipeEnds()
        let process = try ForegroundProcess(
            Products.backgrounderd,
            arguments,
            environment: environment,
            descriptors: [2: errors.writeEnd]
        )
        close(errors.writeEnd)
        return (process, LineReader(errors.readEnd))
    }

    /// Returns the decoded JSON reply to `GET path`.
    func get<Value: Decodable>(
        _ path: String,
        on connection: HTTPConnection,
        as type: Value.Type = Value.self
    ) async throws -> Value {
        let reply = try await connection.send("GET", path)
        try #require(reply.status == 200, "\(path): \(reply.status) \(reply.text)")
        return try JSON.decode(Value.self, from: Data(reply.body))
    }
}

extension ServiceEvents {
    /// Returns when the newest event about the service's state reports these values.
    func wait(until state: ApplicationState, attached: Int, within seconds: Double = 60) async throws {
        try await wait(for: "\(state.rawValue) with \(attached) attached", within: seconds) { received in
            let (state, attached) = ("\"state\":\"\(state.rawValue)\"", "\"attached\":\(attached)")
            let newest = received.lines.last { $0.hasPrefix("data: ") && $0.contains("\"attached\":") }
            return newest?.contains(state) == true && newest?.contains(attached) == true ? true : nil
        }
    }
}

extension ProgramRun {
    /// Expects a refusal: this exit code, nothing on stdout, and one line on stderr that contains `words`.
    func expectRefusal(_ code: Int32, _ words: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(exitCode == code, "\(self)", sourceLocation: sourceLocation)
        #expect(output.isEmpty, "\(self)", sourceLocation: sourceLocation)
        expectOneLine(words, sourceLocation: sourceLocation)
    }

    /// Expects one complete line on stderr that contains `words` and no control characters.
    func expectOneLine(_ words: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        let lines = errors.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 2, "\(self)", sourceLocation: sourceLocation)
        #expect(lines.last == "", "\(self)", sourceLocation: sourceLocation)
        for word in words {
            #expect(errors.contains(word), "no \(word.debugDescription): \(self)", sourceLocation: sourceLocation)
        }
        let raw = errors.unicodeScalars.dropLast().filter { $0.properties.generalCategory == .control }
        #expect(raw.isEmpty, "\(self)", sourceLocation: sourceLocation)
    }
}

/// Runs `body` and returns its value and duration.
func time<Value>(_ body: () async throws -> Value) async rethrows -> (value: Value, took: Duration) {
    let began = ContinuousClock.now
    let value = try await body()
    return (value, ContinuousClock.now - began)
}
