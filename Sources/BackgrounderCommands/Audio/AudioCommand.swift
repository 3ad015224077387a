import ArgumentParser
import BackgrounderAPI
import SystemSupport

struct AudioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audio",
        abstract: "Control playback: play, pause, seek, volume and more.",
        discussion: """
            Without a subcommand, runs `audio status`.

            EXAMPLES
              backgrounder audio play                  # resumes, or plays the queue
              backgrounder audio play announcement.mp3
              backgrounder audio seek -10
              backgrounder audio volume 70
              backgrounder audio repeat on
              backgrounder audio interrupt doors.wav --duck 20%
            """,
        subcommands: [
            Status.self, Play.self, Pause.self, Toggle.self, Stop.self, Next.self, Previous.self, Seek.self,
            Volume.self,
            Repeat.self, Single.self, Consume.self, Random.self, ReplayGain.self, Output.self, InterruptCommand.self,
            Drivers.self,
        ],
        defaultSubcommand: Status.self
    )

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show the current item, the output and the last error.",
            discussion: """
                EXAMPLES
                  backgrounder audio status
                  backgrounder audio status --format json | jq .elapsed
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try reading.show(try await reading.client.call(Routes.audio))
        }
    }

    struct Play: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "play",
            abstract: "Resume playback, play a queue item, or add files and play them.",
            discussion: """
                With files, no setup is needed: if the service is not running, it is started, \
                and keeps playing after this command has returned.

                EXAMPLES
                  backgrounder audio play                  # resumes, or plays the queue
                  backgrounder audio play 7                # the item with this id
                  backgrounder audio play announcement.mp3
                """
        )
        @Argument(
            help: ArgumentHelp("Id of a queue item, or files, folders, playlists and addresses.", valueName: "id|path")
        )
        var items: [String] = []
        @OptionGroup var reading: ReadingOptions

        func validate() throws { try requireNames(items) }

        func run() async throws {
            var request = PlayRequest()
            if items.count == 1, let id = Int(items[0]) {
                request.id = id
            } else if !items.isEmpty {
                request.items = items.map(queueLocation)
            }
            let body = request
            let status = try await Launcher.startingService(reading.service.paths, neededBy: body.items) {
                try await reading.client.call(Routes.play, body: body)
            }
            try reading.show(status)
        }
    }

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause",
            abstract: "Pause playback.",
            discussion: """
                EXAMPLE
                  backgrounder audio pause
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws { try await act(Routes.pause, reading) }
    }

    struct Toggle: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "toggle",
            abstract: "Pause if playing, otherwise play.",
            discussion: """
                EXAMPLE
                  backgrounder audio toggle
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws { try await act(Routes.toggle, reading) }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stop",
            abstract: "Stop playback and announcements; the current item stays current.",
            discussion: """
                EXAMPLE
                  backgrounder audio stop
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws { try await act(Routes.stopAudio, reading) }
    }

    struct Next: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "next",
            abstract: "Play the next item.",
            discussion: """
                EXAMPLE
                  backgrounder audio next
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws { try await act(Routes.next, reading) }
    }

    struct Previous: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "previous",
            abstract: "Play the previous item.",
            discussion: """
                EXAMPLE
                  backgrounder audio previous
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws { try await act(Routes.previous, reading) }
    }

    struct Seek: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "seek",
            abstract: "Seek to a position, or by an offset.",
            discussion: """
                A time is S, M:SS or H:MM:SS; with a sign, it is relative to the current \
                position. A time at or after the end of the item is rejected.

                EXAMPLES
                  backgrounder audio seek 1:30
                  backgrounder audio seek -10              # 10 seconds back
                """
        )
        @Argument(parsing: .allUnrecognized, help: ArgumentHelp("Position, or signed offset.", valueName: "time"))
        var time: [String] = []
        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            _ = try request
        }

        private var request: SeekRequest {
            get throws {
                let time = time.withoutTerminator
                guard let text = time.first, time.count == 1 else {
                    throw ValidationError("seek takes one time; use [+|-]S, M:SS or H:MM:SS")
                }
                let sign = text.first == "-" ? -1.0 : 1.0
                let isRelative = text.first == "+" || text.first == "-"
                guard let seconds = Durations.position(isRelative ? text.dropFirst() : Substring(text)) else {
                    throw ValidationError("\(text.debugDescription) is not a valid time; use [+|-]S, M:SS or H:MM:SS")
                }
                return isRelative ? SeekRequest(by: sign * seconds) : SeekRequest(to: seconds)
            }
        }

        func run() async throws {
            let body = try request
            try reading.show(try await reading.client.call(Routes.seek, body: body))
        }
    }

}

/// Calls `route`, which takes effect even if the disk is failing, and warns if the change could not be stored.
private func act(_ route: Route<Empty, AudioStatus>, _ reading: ReadingOptions) async throws {
    let status = try await reading.client.call(route)
    try reading.show(status)
    if let health = status.health, health.state == .failing, let line = health.line {
        Output.note("backgrounder: warning: done, but not stored, so a restart undoes it: \(line)")
    }
}

extension ReadingOptions {
    /// Prints `status` as JSON, or as lines for this terminal.
    func show(_ status: AudioStatus) throws {
        try show(status) { $0.details(columns: StandardOutput.terminalSize.columns).printable }
    }
}
