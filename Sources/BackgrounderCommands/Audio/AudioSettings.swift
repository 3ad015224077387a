import ArgumentParser
import BackgrounderAPI

extension AudioCommand {
    struct Volume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "volume",
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
                return try reading.show(try await reading.client.call(Routes.audio).volume) { String($0) }
            }
            try await change(AudioChange(volume: value), reading)
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
                ReplayGain plays all items equally loud, by the gains in their tags. With auto,
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
