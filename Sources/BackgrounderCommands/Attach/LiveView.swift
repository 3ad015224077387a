import BackgrounderAPI
import FoundationEssentials
import Glibc
import SystemSupport

/// The live view on a terminal: panels that follow the service and the size of the terminal, and keys for the player.
struct LiveView {
    let client: Client
    /// The path of the service's log.
    let log: String

    func run() async throws {
        let inbox = ViewInbox()
        let inputs: [AnyObject?] = [
            SignalInput([SIGINT, SIGTERM, SIGHUP]) { inbox.post(.quit) },
            SignalInput([SIGWINCH]) { inbox.post(.resized) },
            SignalInput([SIGTSTP]) { inbox.post(.suspended) },
            SignalInput([SIGCONT]) { inbox.post(.resumed) },
            KeyInput { key in inbox.post(key.map { .key($0) } ?? .quit) },
        ]
        // Create it after the signal handlers, so that no signal ends the process without restoring the terminal.
        let terminal = Terminal()
        let calls = ViewCalls(client, inbox)
        let reader = Task { inbox.post(.ended(await client.watch { inbox.post(.event($0)) })) }
        // The timer runs only while a budget counts down: the view of a quiet service draws nothing.
        let redraw = RedrawTimer { inbox.post(.elapsed) }
        defer {
            reader.cancel()
            calls.end()
            withExtendedLifetime(inputs) {}
        }
        var view = ViewState()
        var isReadingLog = false
        let charset = Charset(environment: ProcessInfo.processInfo.environment)
        for await _ in inbox.bell {
            let content = inbox.take()
            if content.isQuit { return }
            if let failure = content.failure { throw failure }
            guard update(&view, with: content, calls) else { return }
            if content.isSuspended { terminal.suspend() } else if content.isResumed { terminal.enter() }
            let (columns, rows) = StandardOutput.terminalSize
            var screen = LiveScreen(state: content.state, view: view, columns: columns, rows: rows, charset: charset)
            screen.isStyled = true
            if screen.isShowingLog, !isReadingLog {
                isReadingLog = true
                LogTail.begin(log) { inbox.post(.log($0)) }
            }
            try terminal.draw(screen.lines())
            if content.state.isCounting { redraw.arm() } else { redraw.disarm() }
        }
    }

    /// Applies what arrived to the view, and starts the calls that follow from it.
    ///
    /// - Returns: Whether the view continues.
    private func update(_ view: inout ViewState, with content: ViewInbox.Content, _ calls: ViewCalls) -> Bool {
        let state = content.state
        if let page = content.page { view.cursor.receive(page.items, around: page.id, in: state) }
        view.cursor.follow(state)
        if let refusal = content.refusal { view.refuse(refusal.description) }
        for key in content.keys {
            switch view.press(key, in: state) {
            case .none: break
            case .quit: return false
            case .request(let request): calls.send(request)
            }
        }
        if let id = view.cursor.takeRequest() { calls.readPage(around: id) }
        if content.hasMoved { calls.readLocation() }
        return true
    }
}
