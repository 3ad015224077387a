import BackgrounderAPI
import FoundationEssentials
import Glibc
import SystemSupport

/// The live view on a terminal: panels that follow the service and the size of the terminal.
struct LiveView {
    let client: Client

    func run() async throws {
        let inbox = ViewInbox()
        let (keys, keyboard) = AsyncStream.makeStream(of: Character.self, bufferingPolicy: .bufferingOldest(16))
        let inputs: [AnyObject?] = [
            SignalInput([SIGINT, SIGTERM, SIGHUP]) { inbox.post(.quit) },
            SignalInput([SIGWINCH]) { inbox.post(.resized) },
            SignalInput([SIGTSTP]) { inbox.post(.suspended) },
            SignalInput([SIGCONT]) { inbox.post(.resumed) },
            KeyInput { key in
                if key == nil || key == "q" { inbox.post(.quit) } else if let key { keyboard.yield(key) }
            },
        ]
        // Create it after the signal handlers, so that no signal ends the process without restoring the terminal.
        let terminal = Terminal()
        let reader = Task { inbox.post(.ended(await client.watch { inbox.post(.event($0)) })) }
        // Send key presses one after the other in a separate task, so that quitting works even if the service does not
        // reply.
        let presser = Task { for await key in keys { await press(key) } }
        // The timer runs only while a budget counts down: the view of a quiet service draws nothing.
        let redraw = RedrawTimer { inbox.post(.elapsed) }
        defer {
            reader.cancel()
            presser.cancel()
            withExtendedLifetime(inputs) {}
        }
        for await _ in inbox.bell {
            let content = inbox.take()
            if content.isQuit { return }
            if let failure = content.failure { throw failure }
            if content.isSuspended { terminal.suspend() } else if content.isResumed { terminal.enter() }
            let size = StandardOutput.terminalSize
            try terminal.draw(Self.lines(content.state, columns: size.columns, rows: size.rows))
            if content.state.isCounting { redraw.arm() } else { redraw.disarm() }
        }
    }

    private func press(_ key: Character) async {
        let route: Route<Empty, AudioStatus>? =
            switch key {
            case " ": Routes.toggle
            case "n": Routes.next
            case "p": Routes.previous
            default: nil
            }
        // A refused request, such as play with an empty queue, has no visible effect.
        if let route { _ = try? await client.call(route) }
    }

    /// Returns the whole screen: at most `rows` lines of `columns` columns.
    static func lines(
        _ state: LiveState,
        columns: Int,
        rows: Int,
        now: Date = Date(),
        instant: SuspendingClock.Instant = .now
    ) -> [String] {
        guard let status = state.status else { return ["Connecting …".fitted(to: columns)] }
        let since = TimeStyle.local(now: now).clock(status.since)
        let header =
            "Backgrounder \(status.version)  \(status.state.rawValue) since \(since)  \(status.attached) attached"
        let keys = "space play/pause  n next  p previous  q detach"
        let alert = state.alert.map { "\($0.source): \($0.text)" }
        let footer = (status.health?.line.map { "! \($0)" } ?? alert ?? keys).withoutControlCharacters
        let bodyRows = max(0, rows - 2)
        let background = BackgroundPanels(state, now: now, instant: instant)
        let lower = background.height(of: bodyRows)
        let upper = bodyRows - lower
        let left = columns / 2
        let right = columns - left
        var lines = [header.fitted(to: columns)]
        lines += Panel.beside(
            Panel(title: "Audio", lines: audio(state, width: left - 4, rows: upper - 2)).render(
                columns: left,
                rows: upper
            ),
            Panel(title: "Location", lines: location(state, columns: right - 4, rows: upper - 2)).render(
                columns: right,
                rows: upper
            )
        )
        lines += background.render(columns: columns, rows: lower)
        lines.append(footer.fitted(to: columns))
        return Array(lines.prefix(rows))
    }

    private static func audio(_ state: LiveState, width: Int, rows: Int) -> [String] {
        guard let audio = state.status?.audio else { return [] }
        var lines: [String] = []
        if let item = audio.currentItem {
            lines.append("\(audio.timeControlStatus == .playing ? "▶" : "‖") \(item.name)")
            lines.append([item.album, item.fileName].compactMap(\.self).joined(separator: " · "))
            if let elapsed = audio.elapsed {
                let clock = Durations.clock(elapsed) + (item.duration.map { " / \(Durations.clock($0))" } ?? "")
                lines.append(
                    "\(ProgressBar.render(elapsed, of: item.duration, width: max(4, width - clock.count - 1))) \(clock)"
                )
            }
        } else {
            lines.append(state.queue.isEmpty ? "nothing to play" : "not playing; space plays the queue")
        }
        if let announcing = audio.announcing { lines.append("» \(announcing)") }
        lines.append(
            "\(audio.timeControlStatus.rawValue), volume \(audio.volume), \(audio.driver)\(audio.device.map { " (\($0))" } ?? "")"
        )
        if let error = audio.lastError { lines.append("! \(error.reason)") }
        lines.append("")
        // If the queue does not fit, scroll to the current item.
        let current = state.queue.firstIndex { $0.id == audio.currentItem?.id } ?? 0
        let start = max(0, min(current - 1, state.queue.count - (rows - lines.count)))
        for item in state.queue.dropFirst(start) {
            let mark = item.error != nil ? "✗" : item.id == audio.currentItem?.id ? "▶" : " "
            lines.append("\(mark) \(item.position + 1). \(item.name)")
        }
        return lines
    }

    private static func location(_ state: LiveState, columns: Int, rows: Int) -> [String] {
        guard let location = state.status?.location else { return [] }
        var text = [
            "\(location.updating ? location.connection.rawValue : "stopped")\(location.quality.map { ", \($0.rawValue)" } ?? "")  \(location.received) received, \(location.accepted) accepted"
        ]
        let filter = location.distanceFilter == 0 ? "every fix" : "every \(location.distanceFilter.metres)"
        text.append("\(location.desiredAccuracy.rawValue), \(filter)")
        if let fix = state.track.last {
            text.append(
                "\(fix.latitude.decimals(6)), \(fix.longitude.decimals(6))\(fix.horizontalAccuracy.map { " ± \($0.metres)" } ?? "")"
            )
            let motion = [
                fix.speed.map { "\($0.decimals(1)) m/s" }, fix.course.map { "\($0.decimals(0))°" },
                fix.altitude.map { "\($0.decimals(0)) m high" },
            ]
            text.append(motion.compactMap(\.self).joined(separator: "  "))
        }
        let drawing = TrackDrawing(state.track).render(columns: columns, rows: max(0, rows - text.count - 1))
        return drawing + text
    }
}
