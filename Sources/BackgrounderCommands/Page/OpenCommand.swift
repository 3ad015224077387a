import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// `backgrounder open`: the page.
struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Show the service live in a browser, with a map.",
        discussion: """
            Prints the link of the page, and opens it if this is a desktop. The link works \
            once, within a minute, and only on this machine. The browser tab then has a \
            session, which --list shows and --revoke ends. The service listens only while \
            there is a session.

            With --ssh, the page of another machine is opened here, through a tunnel that \
            lasts until the command is ended with Ctrl-C.

            EXAMPLES
              backgrounder open
              backgrounder open --read-only --for 30m
              backgrounder open --ssh pi@bus7
              backgrounder open --list
              backgrounder open --revoke 3
            """
    )

    @Flag(help: "Let the page change nothing.")
    var readOnly = false
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long the session lasts, up to 30d (default 8h).", valueName: "duration"),
        transform: parseDuration
    )
    var duration: Duration?
    @Option(help: ArgumentHelp("Port on this machine (default the same as before).", valueName: "number"))
    var port: Int?
    @Option(help: ArgumentHelp("Open the page of another machine through ssh.", valueName: "host"))
    var ssh: String?
    @Flag(help: "Only print the link.")
    var noBrowser = false
    @Flag(help: "List the sessions.")
    var list = false
    @Option(help: ArgumentHelp("End the session with this id.", valueName: "id"))
    var revoke: Int?
    @OptionGroup var reading: ReadingOptions

    func validate() throws {
        if let port, !(1...65_535).contains(port) {
            throw ValidationError("--port \(port) is out of range; use 1 to 65535")
        }
        if let ssh, ssh.isEmpty || ssh.hasPrefix("-") {
            throw ValidationError("\(ssh.debugDescription) is not a valid host; use HOST or USER@HOST")
        }
        let opens = readOnly || duration != nil || port != nil || noBrowser || ssh != nil
        if list && revoke != nil || (list || revoke != nil) && opens {
            throw ValidationError("--list and --revoke exclude the other options")
        }
    }

    func run() async throws {
        if list {
            let sessions = try await reading.client.call(Routes.pageSessions)
            return try reading.show(sessions) { PageSessionTable.render($0, .output) }
        }
        if let revoke {
            _ = try await reading.client.call(Routes.revokePageSession, id: revoke)
            return try reading.confirm("ended session \(revoke)")
        }
        if let ssh {
            try Tunnel(host: ssh, options: remoteOptions).run(opensBrowser: !noBrowser)
        }
        let request = PageCodeRequest(scope: readOnly ? .read : nil, duration: duration?.seconds, port: port)
        let code = try await reading.client.call(Routes.createPageCode, body: request)
        try reading.show(code) { $0.links.joined(separator: "\n") }
        if !noBrowser, let link = code.links.last { Browser.open(link) }
    }

    private var remoteOptions: [String] {
        (readOnly ? ["--read-only"] : []) + (duration.map { ["--for", "\($0.seconds)s"] } ?? [])
            + (port.map { ["--port", "\($0)"] } ?? [])
    }
}

/// Parses the value of `--for`.
@Sendable private func parseDuration(_ text: String) throws -> Duration {
    guard let duration = Durations.duration(text), (.seconds(1)...(.seconds(30 * 86_400))).contains(duration) else {
        throw ValidationError("\(text.debugDescription) is not a valid duration; use 1s to 30d, such as 8h")
    }
    return duration
}

/// A table of sessions.
enum PageSessionTable {
    static func render(_ sessions: [PageSession], _ style: TimeStyle) -> String {
        guard !sessions.isEmpty else { return "No sessions; begin one with `backgrounder open`." }
        var table = Table([("ID", .right), ("MAY", .left), ("ENDS", .left)])
        for session in sessions {
            table.add([String(session.id), session.scope.rawValue, style.clock(session.expires)])
        }
        return table.render()
    }
}
