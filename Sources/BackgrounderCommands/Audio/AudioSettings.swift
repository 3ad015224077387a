import ArgumentParser
import BackgrounderAPI

extension AudioCommand {
    struct Volume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "volume",
            abstract: "Set the volume, change it, or print it.",
            discussion: """
                With a sign, the number is added to the current volume. The result is limited \
                to 0 to 100.

                EXAMPLES
                  backgrounder audio volume
                  backgrounder audio volume 70
                  backgrounder audio volume -5             # 5 lower
                """
        )
        @Argument(parsing: .allUnrecognized, help: ArgumentHelp("Volume, 0 to 100, or signed change.", valueName: "n"))
        var volume: [String] = []
        @OptionGroup var reading: ReadingOptions

        /// The volume that the arguments ask for.
        enum Request: Equatable {
            case current
            case level(Int)
            case change(Int)
        }

        func validate() throws {
            _ = try request
        }

        var request: Request {
            get throws {
                let words = volume.withoutTerminator
                guard let text = words.first else { return .current }
                let isChange = text.hasPrefix("+") || text.hasPrefix("-")
                guard words.count == 1, let value = Int(text), ((isChange ? -100 : 0)...100).contains(value) else {
                    throw ValidationError(
                        "\(words.joined(separator: " ").debugDescription) is not a valid volume; use 0 to 100, or a change such as +5 or -5"
                    )
                }
                return isChange ? .change(value) : .level(value)
            }
        }

        func run() async throws {
            switch try request {
            case .current: try reading.show(try await reading.client.call(Routes.audio).volume) { String($0) }
            case .level(let level): try await change(AudioChange(volume: level), reading)
            case .change(let difference):
                let level = try await reading.client.call(Routes.audio).volume + difference
                try await change(AudioChange(volume: min(max(level, 0), 100)), reading)
            }
        }
    }

    struct Repeat: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "repeat",
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
        enum Mode: String, FixedWord {
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
            commandName: "single",
            abstract: "Pause after each item, or print the current setting.",
            discussion: """
                With oneshot, playback pauses after the current item, and single turns itself \
                off. If repeat is on and consume is off, single repeats the current item \
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
            let mode = try await reading.client.call(Routes.audio).single
            try reading.show(mode) { mode in Mode.allCases.first { $0.value == mode }?.rawValue ?? "off" }
        }
    }

    struct Consume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "consume",
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
            commandName: "random",
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
                ReplayGain plays all items equally loud, by the gains in their tags. With auto, \
                the album gain applies, or the track gain while random is on.

                EXAMPLES
                  backgrounder audio replaygain
                  backgrounder audio replaygain album
                """
        )
        @Argument(help: "New setting.") var value: Mode?
        @OptionGroup var reading: ReadingOptions

        enum Mode: String, FixedWord { case off, track, album, auto }

        func run() async throws {
            if let value {
                return try await change(AudioChange(replayGain: ReplayGainMode(rawValue: value.rawValue)), reading)
            }
            let mode = try await reading.client.call(Routes.audio).replayGain
            try reading.show(mode) { $0.rawValue }
        }
    }

    struct Output: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "output",
            abstract: "Enable or disable the sound output, or print the current setting.",
            discussion: """
                While the output is disabled nothing sounds, also after a restart: the player \
                pauses instead of playing, and announcements are refused. Enabling it does not \
                start the music again.

                EXAMPLES
                  backgrounder audio output
                  backgrounder audio output off
                """
        )
        @Argument(help: "New setting.") var value: Switch?
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try await set(value.map { AudioChange(outputEnabled: $0.isOn) }, \.outputEnabled, reading)
        }
    }
}

private func change(_ change: AudioChange, _ reading: ReadingOptions) async throws {
    try reading.show(try await reading.client.call(Routes.changeAudio, body: change))
}

/// Applies `newValue`, or prints the current value if it is `nil`.
private func set(_ newValue: AudioChange?, _ value: KeyPath<AudioStatus, Bool>, _ reading: ReadingOptions) async throws
{
    if let newValue { return try await change(newValue, reading) }
    let status = try await reading.client.call(Routes.audio)
    try reading.show(status[keyPath: value]) { $0 ? "on" : "off" }
}
