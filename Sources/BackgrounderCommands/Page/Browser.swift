import ChildProcesses
import FoundationEssentials
import Glibc
import SystemSupport

/// The browser of a desktop.
enum Browser {
    /// Opens `link` if this process runs on a desktop. A failure is not reported: the link is on the terminal.
    static func open(_ link: String) {
        let environment = ProcessInfo.processInfo.environment
        guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else { return }
        let nowhere = Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nowhere) }
        let browser = Spawn(
            arguments: ["xdg-open", link],
            environment: environment.map { "\($0)=\($1)" },
            descriptors: [nowhere, nowhere, nowhere]
        )
        _ = try? browser.run()
    }
}

/// The page of another machine, through two connections of ssh: one asks for the link, the other is the tunnel.
struct Tunnel {
    private static let patience = Duration.seconds(20)

    let host: String
    /// The options of `backgrounder open` there.
    let options: [String]

    /// Prints the link, opens it, and keeps the tunnel until ssh ends.
    ///
    /// - Throws: ``CommandFailure`` if ssh or the command there fails.
    func run(opensBrowser: Bool) throws -> Never {
        let pipe = try Pipe()
        let command = ["backgrounder", "open", "--no-browser"] + options
        let asking = try spawn(["--", host] + command, output: pipe.writeEnd)
        pipe.closeWriteEnd()
        let output = pipe.readAll()
        let status = wait(for: asking)
        let link = output.split(separator: "\n").last.map(String.init) ?? ""
        guard status == 0 else {
            throw CommandFailure("cannot open the page of \(host): `ssh \(host) backgrounder open` failed")
        }
        guard let port = Self.port(of: link) else {
            throw CommandFailure("`ssh \(host) backgrounder open` printed no link: \(link.debugDescription)")
        }
        guard !Self.isListening(port) else {
            throw CommandFailure("port \(port) is in use here; choose another with --port")
        }
        let forwarding = "\(port):127.0.0.1:\(port)"
        let tunnel = try spawn(["-N", "-o", "ExitOnForwardFailure=yes", "-L", forwarding, "--", host], output: 1)
        let deadline = ContinuousClock.now + Self.patience
        while !Self.isListening(port) {
            var status: Int32 = 0
            guard waitpid(tunnel, &status, WNOHANG) == 0, .now < deadline else {
                kill(tunnel, SIGTERM)
                throw CommandFailure("no tunnel to \(host) at port \(port)")
            }
            usleep(50_000)
        }
        try Output.print(link)
        if opensBrowser { Browser.open(link) }
        Output.note("The tunnel to \(host) is open; end it with Ctrl-C")
        Glibc.exit(waitForEnd(of: tunnel))
    }

    /// Waits until `tunnel` ends, or ends it with the first signal that ends this process. Returns the exit code.
    private func waitForEnd(of tunnel: Int32) -> Int32 {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGCHLD] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        while true {
            var status: Int32 = 0
            if waitpid(tunnel, &status, WNOHANG) != 0 { return status == 0 ? 0 : 1 }
            var signal: Int32 = 0
            guard sigwait(&signals, &signal) == 0, signal != SIGCHLD else { continue }
            kill(tunnel, SIGTERM)
            return 128 + signal
        }
    }

    private func spawn(_ arguments: [String], output: Int32) throws -> Int32 {
        let ssh = Spawn(
            arguments: ["ssh"] + arguments,
            environment: ProcessInfo.processInfo.environment.map { "\($0)=\($1)" },
            descriptors: [0, output, 2],
            // It may ask for a password on the terminal.
            isDetached: false
        )
        do throws(SpawnFailure) {
            return try ssh.run()
        } catch {
            throw CommandFailure("\(error); install openssh-client")
        }
    }

    private func wait(for pid: Int32) -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// Returns the port of a link on loopback.
    private static func port(of link: String) -> UInt16? {
        let start = "http://127.0.0.1:"
        guard link.hasPrefix(start) else { return nil }
        return UInt16(link.dropFirst(start.count).prefix { $0 != "/" })
    }

    private static func isListening(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
