import ArgumentParser
import BackgrounderAPI

struct AudioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audio",
        abstract: "The audio mode: play, pause, seek, volume and the rest.",
        discussion: """
            EXAMPLES
              backgrounder audio play                  # goes on, or plays the queue
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
            abstract: "What plays, where to, and what went wrong.",
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
            abstract: "Go on, play the item with an id, or add files and play the first of them.",
            discussion: """
                With files it needs nothing set up: where no service runs, one is started, and plays on when this command
                has ended.

                EXAMPLES
                  backgrounder audio play                  # goes on, or plays the queue
                  backgrounder audio play 7                # the item with this id
                  backgrounder audio play announcement.mp3
                """
        )
        @Argument(help: ArgumentHelp("An id of the queue, or files and folders.", valueName: "id|path"))
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
            abstract: "Pause.",
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
            abstract: "Pause when playing, else play.",
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
            abstract: "Stop; the current item stays the current one.",
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
            abstract: "Play the item after the current one.",
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
            abstract: "Play the item before the current one.",
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
            abstract: "Go to S, M:SS or H:MM:SS; with a sign, by that much.",
            discussion: """
                A time at or after the end of the item is refused.

                EXAMPLES
                  backgrounder audio seek 1:30
                  backgrounder audio seek -10              # 10 seconds back
                """
        )
        @Argument(parsing: .allUnrecognized, help: ArgumentHelp("A time, or a signed difference.", valueName: "time"))
        var time: [String] = []
        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            _ = try request
        }

        private var request: SeekRequest {
            get throws {
                guard let text = time.first, time.count == 1 else {
                    throw ValidationError("seek takes one time: [+|-]S, M:SS or H:MM:SS")
                }
                let sign = text.first == "-" ? -1.0 : 1.0
                let isRelative = text.first == "+" || text.first == "-"
                guard let seconds = Durations.position(isRelative ? text.dropFirst() : Substring(text)) else {
                    throw ValidationError("\(text.debugDescription) is no time: give [+|-]S, M:SS or H:MM:SS")
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
            abstract: "Set the volume from 0 to 100, or print it.",
            discussion: """
                EXAMPLES
                  backgrounder audio volume
                  backgrounder audio volume 70
                """
        )
        @Argument(parsing: .allUnrecognized, help: ArgumentHelp("0 to 100.", valueName: "n"))
        var volume: [String] = []
        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            guard let text = volume.first else { return }
            // A sign would be taken for a difference.
            guard volume.count == 1, text.utf8.first != UInt8(ascii: "+"), let value = Int(text),
                (0...100).contains(value)
            else {
                throw ValidationError("\(volume.joined(separator: " ").debugDescription) is no volume: give 0 to 100")
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
            abstract: "Begin the queue again at its end, or print whether.",
            discussion: """
                EXAMPLES
                  backgrounder audio repeat
                  backgrounder audio repeat on
                """
        )
        @Argument var value: Switch?
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
            abstract: "Pause after the current item (oneshot: once), or print whether.",
            discussion: """
                EXAMPLES
                  backgrounder audio single on
                  backgrounder audio single oneshot        # only this time
                """
        )
        @Argument var value: Mode?
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            if let value { return try await change(AudioChange(single: value.value), reading) }
            let mode = try await reading.use { try await $0.call(Routes.audio).single }
            try reading.show(mode) { mode in Mode.allCases.first { $0.value == mode }?.rawValue ?? "off" }
        }
    }

    struct Consume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove items that were played, or print whether.",
            discussion: """
                EXAMPLES
                  backgrounder audio consume
                  backgrounder audio consume on
                """
        )
        @Argument var value: Switch?
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try await set(value.map { AudioChange(consume: $0.isOn) }, \.consume, reading)
        }
    }

    struct Random: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Play in random order, or print whether.",
            discussion: """
                EXAMPLES
                  backgrounder audio random
                  backgrounder audio random on
                """
        )
        @Argument var value: Switch?
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try await set(value.map { AudioChange(random: $0.isOn) }, \.random, reading)
        }
    }

    struct ReplayGain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "replaygain",
            abstract:
                "Play all items equally loud by the gains in their tags, or print which (auto: album, or track in random order).",
            discussion: """
                EXAMPLES
                  backgrounder audio replaygain
                  backgrounder audio replaygain album
                """
        )
        @Argument var value: Mode?
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
            abstract: "The drivers of this machine, and which can be opened now.",
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
    /// `pulse` takes the name: `alsa_output.usb, USB Speaker (default)`.
    fileprivate var summary: String {
        [name, description].compactMap(\.self).joined(separator: ", ") + (isDefault == true ? " (default)" : "")
    }
}

/// Calls `route`, which works on a failing disk too, and warns if its effect cannot be stored.
private func act(_ route: Route<Empty, AudioStatus>, _ reading: ReadingOptions) async throws {
    let status = try await reading.use { try await $0.call(route) }
    try reading.show(status, text)
    if let health = status.health, health.state == .failing, let line = health.line {
        Output.note("backgrounder: warning: done, but a restart will not know it: \(line)")
    }
}

private func change(_ change: AudioChange, _ reading: ReadingOptions) async throws {
    try reading.show(try await reading.use { try await $0.call(Routes.changeAudio, body: change) }, text)
}

/// Applies `change`, or prints the present value where there is none.
private func set(_ newValue: AudioChange?, _ value: KeyPath<AudioStatus, Bool>, _ reading: ReadingOptions) async throws
{
    if let newValue { return try await change(newValue, reading) }
    let status = try await reading.use { try await $0.call(Routes.audio) }
    try reading.show(status[keyPath: value]) { $0 ? "on" : "off" }
}
