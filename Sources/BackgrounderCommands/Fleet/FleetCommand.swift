import ArgumentParser

/// `backgrounder fleet`: commands to the machines of a fleet. They run in `backgrounderd`, which has the MQTT client.
struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Send commands to the machines of a fleet through a broker.",
        discussion: """
            The machines publish to the broker (`publish add`), which also brings the commands to \
            them. These commands need no service on this machine.

            EXAMPLES
              backgrounder fleet announce --broker mqtts://broker.example --to bus12 \\
                doors.wav --wait 10s
              backgrounder fleet announce --broker mqtts://broker.example --group red \\
                --say 'We leave in ten minutes'
              backgrounder fleet send --broker mqtts://broker.example --group red pause
            """,
        subcommands: [Announce.self, Send.self]
    )
}

extension FleetCommand {
    struct Announce: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "announce",
            abstract: "Play an item, or say a text, on machines of a fleet.",
            discussion: """
                EXAMPLES
                  backgrounder fleet announce --broker mqtts://broker.example \\
                    --to bus12,bus14 doors.wav --wait 10s
                  backgrounder fleet announce --broker mqtts://broker.example --group red \\
                    --say 'We leave in ten minutes' --at +30s --duck 20%
                """
        )
        @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("The item and the options."))
        var arguments: [String] = []

        func run() async throws { try Launcher.exec(["fleet-announce"] + arguments) }
    }

    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "send",
            abstract: "Send another command: play, pause, next, volume and so on.",
            discussion: """
                EXAMPLES
                  backgrounder fleet send --broker mqtts://broker.example --to bus12 pause \\
                    --wait 10s
                  backgrounder fleet send --broker mqtts://broker.example --group red \\
                    volume 60%
                """
        )
        @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("The command and the options."))
        var arguments: [String] = []

        func run() async throws { try Launcher.exec(["fleet-send"] + arguments) }
    }
}
