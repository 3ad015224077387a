import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// Access to a root service's socket by root, a member of `control.group`, and a member listed in `control.execute`.
///
/// The test uses bare user and group ids; the users need no accounts.
@Suite(.sharing, .enabled(if: getuid() == 0, "only root can take on other users")) struct AccessTests {
    private struct User {
        var id: uid_t
        var groups: [gid_t]
    }

    private static let group = "games"
    private static let executor = "daemon"

    private let interface: OpenAPI
    private let service: Service
    private let member: User
    private let executing: User
    private let stranger = User(id: 54_321, groups: [])

    init() async throws {
        interface = try OpenAPI(contentsOf: Products.repository("Packaging/openapi.yaml"))
        let group = try #require(getgrnam(Self.group)).pointee.gr_gid
        member = User(id: 54_321, groups: [group])
        executing = User(id: try #require(getpwnam(Self.executor)).pointee.pw_uid, groups: [group])
        service = try Service(
            TestConfiguration(
                modes: "[audio, location, fetch, remote-notification]",
                rest: [
                    "  musicDirectory: media", "control:", "  group: \(Self.group)", "  execute: [\(Self.executor)]",
                ]
            )
        )
        try FileManager.default.createDirectory(atPath: service.file("media"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: Samples.tunes[0], toPath: service.file("media/tune.mp3"))
        try FileManager.default.copyItem(atPath: Samples.tunes[0], toPath: service.file("tune.mp3"))
        // Lets the other users reach the socket; the files in the home keep their modes.
        chmod(service.home, 0o755)
        try await service.start()
    }

    private func run(_ user: User, _ program: String, _ arguments: [String]) async throws -> ProgramRun {
        let groups =
            user.groups.isEmpty
            ? ["--clear-groups"] : ["--groups", user.groups.map(String.init).joined(separator: ",")]
        return try await ProgramRun.of(
            "/usr/bin/setpriv",
            ["--reuid", "\(user.id)", "--regid", "65534"] + groups + [program] + arguments,
            environment: service.environment,
            within: 60
        )
    }

    /// Returns the status that `user` gets for each of `requests`, which all have the body `{}`.
    private func statuses(_ user: User, _ requests: [(method: String, target: String)]) async throws -> [Int] {
        let arguments = requests.flatMap { method, target in
            [
                "--next", "-s", "-m", "5", "--unix-socket", service.paths.controlSocket, "-o", "/dev/null", "-w",
                "%{http_code}\n",
                "-X", method, "http://localhost\(target)",
            ] + (method == "GET" ? [] : ["-H", "Content-Type: application/json", "-d", "{}"])
        }
        let run = try await run(user, "/usr/bin/curl", Array(arguments.dropFirst()))
        return run.text.split(separator: "\n").compactMap { Int($0) }
    }

    private func send(_ user: User, _ method: String, _ target: String, _ body: String) async throws -> (Int, String) {
        let run = try await run(
            user,
            "/usr/bin/curl",
            [
                "-s", "--unix-socket", service.paths.controlSocket, "-w", "\n%{http_code}", "-X", method,
                "-H", "Content-Type: application/json", "-d", body, "http://localhost\(target)",
            ]
        )
        let lines = run.text.split(separator: "\n", omittingEmptySubsequences: false)
        return (Int(lines.last ?? "") ?? 0, lines.dropLast().joined(separator: "\n"))
    }

    @Test func `every route requires the access level that its description names`() async throws {
        let operations = interface.operations.filter { $0.path != "/v1/stop" && $0.path != Routes.eventsPath }
        let requests = operations.map { (method: $0.method, target: $0.path.replacing(/\{[a-z]+\}/, with: "7")) }
        let needed = try operations.map { operation in
            try #require(operation.description["x-access"]?.string.flatMap(AccessLevel.init), "\(operation.path)")
        }
        let users: [(User, AccessLevel)] = [
            (member, .control), (executing, .execute), (User(id: 0, groups: []), .execute),
        ]
        for (user, level) in users {
            let statuses = try await statuses(user, requests)
            try #require(statuses.count == requests.count)
            for (index, status) in statuses.enumerated() {
                let request = "\(user.id): \(requests[index])"
                #expect((status == 403) == (needed[index] > level), "\(request) gave \(status)")
                #expect((200..<600).contains(status), "\(request) gave \(status)")
            }
        }
        #expect(Set(needed) == Set(AccessLevel.allCases))
        let events = try await run(
            member,
            "/usr/bin/curl",
            ["-sN", "-m", "1", "--unix-socket", service.paths.controlSocket, "http://localhost\(Routes.eventsPath)"]
        )
        #expect(events.text.hasPrefix("event: state\n"))
        #expect(try await statuses(stranger, [("GET", "/v1/status")]) == [0])
        #expect(try await send(member, "POST", "/v1/stop", "{}").0 == 202)
    }

    @Test func `a member of the control group cannot run commands as the service`() async throws {
        let body = #"{"name":"id","command":["id"]}"#
        let (status, answer) = try await send(member, "POST", "/v1/tasks", body)
        #expect(status == 403)
        #expect(
            try JSON.decode(WireError.self, from: Data(answer.utf8)).message
                == "user 54321 lacks the right to execute"
        )
        #expect(try await send(executing, "POST", "/v1/tasks", body).0 == 201)
        let command = try await run(member, Products.backgrounder, ["task", "begin", "id", "--", "id"])
        #expect(command.exitCode == 1)
        #expect(command.errors.contains("lacks the right to"), "\(command)")
    }

    @Test func `a member of the control group can play files in the music folder, and no others`() async throws {
        try service.scratch.write("secret line\n", to: "secret.m3u")
        try service.scratch.write("#EXTM3U\n/etc/passwd\n../tune.mp3\n", to: "media/mixed.m3u")
        try FileManager.default.createSymbolicLink(
            atPath: service.file("media/link.mp3"),
            withDestinationPath: service.file("tune.mp3")
        )
        func items(_ path: String) -> String { #"{"items":["\#(service.file(path))"]}"# }
        for path in [
            "tune.mp3", "secret.m3u", "media/link.mp3", "media/../tune.mp3", "nothing.mp3", "media/../nothing.mp3",
        ] {
            for (target, body) in [
                ("/v1/queue", items(path)), ("/v1/audio/play", items(path)),
                ("/v1/audio/interrupt", #"{"item":"\#(service.file(path))"}"#),
            ] {
                let (status, answer) = try await send(member, "POST", target, body)
                #expect(status == 403, "\(target) \(path): \(answer)")
                #expect(!answer.contains("secret line"))
            }
        }
        let (status, answer) = try await send(member, "POST", "/v1/queue", items("media/mixed.m3u"))
        #expect(status == 404, "\(answer)")
        #expect(try await send(member, "POST", "/v1/queue", items("media/nothing.mp3")).0 == 404)
        #expect(try await send(member, "POST", "/v1/queue", items("media/tune.mp3")).0 == 201)
        #expect(try await send(member, "POST", "/v1/queue", items("media")).0 == 201)
        #expect(try await send(executing, "POST", "/v1/queue", items("tune.mp3")).0 == 201)
    }

    @Test(arguments: [("group", "nobody-has-this"), ("execute", "[nobody-has-this]")])
    func `a group or user that does not exist is refused at start`(key: String, value: String) async throws {
        let service = try Service(TestConfiguration(rest: ["control:", "  \(key): \(value)"]))
        let run = try await service.command(["start"])
        #expect(run.exitCode == 1)
        #expect(run.errors.contains("control.\(key): no "), "\(run)")
        #expect(run.errors.contains(" \"nobody-has-this\"; "), "\(run)")
    }
}
