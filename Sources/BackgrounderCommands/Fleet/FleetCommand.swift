import ArgumentParser

/// `backgrounder fleet`: commands to the machines of a fleet. They run in `backgrounderd`, which has the MQTT client.
struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Send commands to the machines of a fleet, and collect their points.",
        discussion: """
            The machines publish to the broker (`publish add`), which also brings the commands to \
            them. These commands need no service on this machine.

            EXAMPLES
              backgrounder fleet announce --broker mqtts://broker.example --to bus12 \\
                doors.wav --wait 10s
              backgrounder fleet announce --broker mqtts://broker.example --group red \\
                --say 'We leave in ten minutes'
              backgrounder fleet send --broker mqtts://broker.example --group red pause
              backgrounder fleet list --broker mqtts://broker.example
              backgrounder fleet collect --mqtt mqtts://broker.example \\
                --postgres postgres://localhost/fleet
            """,
        subcommands: [Announce.self, Send.self, List.self, Show.self, Collect.self]
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

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the machines of a broker or of a collector's database.",
            discussion: """
                EXAMPLES
                  backgrounder fleet list --broker mqtts://broker.example
                  backgrounder fleet list --postgres postgres://localhost/fleet --format json
                """
        )
        @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("The options."))
        var arguments: [String] = []

        func run() async throws { try Launcher.exec(["fleet-list"] + arguments) }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show one machine.",
            discussion: """
                EXAMPLES
                  backgrounder fleet show bus12 --broker mqtts://broker.example
                  backgrounder fleet show bus12 --postgres postgres://localhost/fleet
                """
        )
        @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("The id of the machine, and the options."))
        var arguments: [String] = []

        func run() async throws { try Launcher.exec(["fleet-show"] + arguments) }
    }

    struct Collect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "collect",
            abstract: "Store the points of a fleet in PostgreSQL, until Control-C.",
            discussion: """
                EXAMPLES
                  backgrounder fleet collect --mqtt mqtt://localhost \\
                    --postgres postgres://localhost/fleet
                  backgrounder fleet collect --mqtt mqtts://broker.example --share office \\
                    --name office-1 --postgres postgres://localhost/fleet \\
                    --metrics 127.0.0.1:9464
                """
        )
        @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("The options."))
        var arguments: [String] = []

        func run() async throws { try Launcher.exec(["fleet-collect"] + arguments) }
    }
}
