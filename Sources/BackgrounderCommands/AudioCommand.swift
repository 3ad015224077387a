import ArgumentParser
import BackgrounderAPI

struct AudioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audio",
        abstract: "Control playback: play, pause, seek, volume and more.",
        discussion: """
            Without a subcommand, shows the status.

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
            Repeat.self, Single.self, Consume.self, Random.self, ReplayGain.self, InterruptCommand.self, Drivers.self,
        ],
        defaultSubcommand: Status.self
    )

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the current item, the output and the last error.",
            discussion: """
                EXAMPLES
                  backgrounder audio status
                  backgrounder audio status --format json | jq .elapsed
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try reading.show(try await reading.use { try await $0.call(Routes.audio) }, text)
        }
    }

    struct Play: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Resume playback, play a queue item, or add files and play them.",
            discussion: """
                With files, no setup is needed: if the service is not running, it is started,
                and keeps playing after this command has returned.

                EXAMPLES
                  backgrounder audio play                  # resumes, or plays the queue
                  backgrounder audio play 7                # the item with this id
                  backgrounder audio play announcement.mp3
                """
        )
        @Argument(help: ArgumentHelp("Id of a queue item, or files and folders.", valueName: "id|path"))
        var items: [String] = []
        @OptionGroup var reading: ReadingOptions

        func validate() throws { try requireNames(items) }

        func run() async throws {
            var request = PlayRequest()
            if items.count == 1, let id = Int(items[0]) {
                request.id = id
            } else if !items.isEmpty {
                request.items = items.map { RuntimePaths.absolute($0) }
            }
            let body = request
            let status = try await Launcher.startingService(reading.service.paths, neededBy: body.items) {
                try await reading.use { try await $0.call(Routes.play, body: body) }
            }
            try reading.show(status, text)
        }
    }

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
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
            abstract: "Seek to a position, or by an offset.",
            discussion: """
                A time is S, M:SS or H:MM:SS; with a sign, it is relative to the current
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
            try reading.show(try await reading.use { try await $0.call(Routes.seek, body: body) }, text)
        }
    }

    struct Volume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set the volume, or print it.",
            discussion: """
                EXAMPLES
                  backgrounder audio volume
                  backgrounder audio volume 70
                """
        )
        @Argument(parsing: .allUnrecognized, help: ArgumentHelp("Volume, 0 to 100.", valueName: "n"))
        var volume: [String] = []
        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            guard let text = volume.first else { return }
            // Reject a sign, which looks like a relative change.
            guard volume.count == 1, text.utf8.first != UInt8(ascii: "+"), let value = Int(text),
                (0...100).contains(value)
            else {
                throw ValidationError(
                    "\(volume.joined(separator: " ").debugDescription) is not a valid volume; use 0 to 100"
                )
            }
        }

        func run() async throws {
            guard let value = volume.first.flatMap({ Int($0) }) else {
                return try reading.show(try await reading.use { try await $0.call(Routes.audio).volume }) { String($0) }
            }
            try await change(AudioChange(volume: value), reading)
        }
    }

    struct Repeat: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Turn queue repeat on or off, or print the current setting.",
            discussion: """
                EXAMPLES
                  backgrounder audio repeat
                  backgrounder audio repeat on
                """
        )
        @Argument(help: "New setting.") var value: Switch?
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try await set(value.map { AudioChange(repeat: $0.isOn) }, \.repeat, reading)
        }
    }

    struct Single: AsyncParsableCommand {
        enum Mode: String, ExpressibleByArgument, CaseIterable {
            case off, on, oneshot

            var value: SingleMode {
                switch self {
                case .off: .off
                case .on: .on
                case .oneshot: .oneshot
                }
            }
        }

        static let configuration = CommandConfiguration(
            abstract: "Pause after each item, or print the current setting.",
            discussion: """
                With oneshot, playback pauses after the current item, and single turns itself
                off. If repeat is on and consume is off, single repeats the current item
                instead of pausing.

                EXAMPLES
                  backgrounder audio single on
                  backgrounder audio single oneshot        # only this time
                """
        )
        @Argument(help: "New setting.") var value: Mode?
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            if let value { return try await change(AudioChange(single: value.value), reading) }
            let mode = try await reading.use { try await $0.call(Routes.audio).single }
            try reading.show(mode) { mode in Mode.allCases.first { $0.value == mode }?.rawValue ?? "off" }
        }
    }

    struct Consume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove items after playing them, or print the current setting.",
            discussion: """
                EXAMPLES
                  backgrounder audio consume
                  backgrounder audio consume on
                """
        )
        @Argument(help: "New setting.") var value: Switch?
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try await set(value.map { AudioChange(consume: $0.isOn) }, \.consume, reading)
        }
    }

    struct Random: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Turn random order on or off, or print the current setting.",
            discussion: """
                EXAMPLES
                  backgrounder audio random
                  backgrounder audio random on
                """
        )
        @Argument(help: "New setting.") var value: Switch?
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try await set(value.map { AudioChange(random: $0.isOn) }, \.random, reading)
        }
    }

    struct ReplayGain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "replaygain",
            abstract: "Set the ReplayGain mode, or print it.",
            discussion: """
                ReplayGain plays all items equally loud, by the gains in their tags. With auto,
                the album gain applies, or the track gain while random is on.

                EXAMPLES
                  backgrounder audio replaygain
                  backgrounder audio replaygain album
                """
        )
        @Argument(help: "New setting.") var value: Mode?
        @OptionGroup var reading: ReadingOptions

        enum Mode: String, ExpressibleByArgument, CaseIterable { case off, track, album, auto }

        func run() async throws {
            if let value {
                return try await change(AudioChange(replayGain: ReplayGainMode(rawValue: value.rawValue)), reading)
            }
            let mode = try await reading.use { try await $0.call(Routes.audio).replayGain }
            try reading.show(mode) { $0.rawValue }
        }
    }

    struct Drivers: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the audio drivers and whether each is available now.",
            discussion: """
                EXAMPLE
                  backgrounder audio drivers
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let drivers = try await reading.use { try await $0.call(Routes.drivers) }
            try reading.show(drivers) { drivers in
                var table = Table([("DRIVER", .left), ("KIND", .left), ("AVAILABLE", .left), ("DEVICES", .left)])
                for driver in drivers {
                    let devices = (driver.devices ?? []).map(\.summary)
                    let available = driver.available ? "yes" : "no"
                    table.add([driver.name, driver.live ? "live" : "file", available, devices.first ?? ""])
                    for device in devices.dropFirst() { table.add(["", "", "", device]) }
                }
                return table.render()
            }
        }
    }
}

@Sendable private func text(_ status: AudioStatus) -> String {
    status.details(columns: Output.terminalSize.columns).printable
}

extension AudioDevice {
    /// Such as `alsa_output.usb, USB Speaker (default)`. The name comes first because the driver option takes it.
    fileprivate var summary: String {
        [name, description].compactMap(\.self).joined(separator: ", ") + (isDefault == true ? " (default)" : "")
    }
}

/// Calls `route`, which takes effect even if the disk is failing, and warns if the change could not be stored.
private func act(_ route: Route<Empty, AudioStatus>, _ reading: ReadingOptions) async throws {
    let status = try await reading.use { try await $0.call(route) }
    try reading.show(status, text)
    if let health = status.health, health.state == .failing, let line = health.line {
        Output.note("backgrounder: warning: done, but not stored, so a restart undoes it: \(line)")
    }
}

private func change(_ change: AudioChange, _ reading: ReadingOptions) async throws {
    try reading.show(try await reading.use { try await $0.call(Routes.changeAudio, body: change) }, text)
}

/// Applies `newValue`, or prints the current value if it is `nil`.
private func set(_ newValue: AudioChange?, _ value: KeyPath<AudioStatus, Bool>, _ reading: ReadingOptions) async throws
{
    if let newValue { return try await change(newValue, reading) }
    let status = try await reading.use { try await $0.call(Routes.audio) }
    try reading.show(status[keyPath: value]) { $0 ? "on" : "off" }
}
