import ArgumentParser
import BackgrounderAPI

struct LocationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "location",
        abstract: "Show and control location tracking.",
        discussion: """
            Without a subcommand, runs `location status`.

            EXAMPLES
              backgrounder location
              backgrounder location accuracy hundredMeters
              backgrounder location filter 10
              backgrounder location maximum none
            """,
        subcommands: [Status.self, Start.self, Stop.self, Accuracy.self, Filter.self, Maximum.self],
        defaultSubcommand: Status.self
    )

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show the source, its quality, and how many fixes were accepted.",
            discussion: """
                EXAMPLES
                  backgrounder location
                  backgrounder location status --format json | jq .quality
                """
        )

        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let status = try await reading.client.call(Routes.location)
            try reading.show(status) { $0.lines().joined(separator: "\n") }
        }
    }

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "start",
            abstract: "Start tracking; has no effect if it is already on.",
            discussion: """
                EXAMPLE
                  backgrounder location start
                """
        )

        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try await change(LocationChange(updating: true), reading)
        }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stop",
            abstract: "Stop tracking.",
            discussion: """
                EXAMPLE
                  backgrounder location stop
                """
        )

        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try await change(LocationChange(updating: false), reading)
        }
    }

    struct Accuracy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "accuracy",
            abstract: "Set the desired accuracy, or print it.",
            discussion: """
                EXAMPLES
                  backgrounder location accuracy
                  backgrounder location accuracy hundredMeters
                """
        )

        @Argument(help: "Accuracy level.")
        var level: DesiredAccuracy?

        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            guard let level else {
                let status = try await reading.client.call(Routes.location)
                return try reading.show(status.desiredAccuracy) { $0.rawValue }
            }
            try await change(LocationChange(desiredAccuracy: level), reading)
        }
    }

    struct Filter: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "filter",
            abstract: "Set the distance filter, or print it.",
            discussion: """
                The filter is the least distance between two points, in metres. With 0 or \
                none, every fix that passes the other checks becomes a point.

                EXAMPLES
                  backgrounder location filter
                  backgrounder location filter 10
                  backgrounder location filter none
                """
        )

        @Argument(parsing: .allUnrecognized, help: ArgumentHelp("Distance in metres, or none.", valueName: "metres"))
        var metres: [String] = []

        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            _ = try length
        }

        private var length: Double?? {
            get throws { try parseMetres(metres, zero: true) }
        }

        func run() async throws {
            guard let length = try length else {
                let status = try await reading.client.call(Routes.location)
                return try reading.show(status.distanceFilter) { $0 == 0 ? "none" : $0.decimalText }
            }
            try await change(LocationChange(distanceFilter: length ?? 0), reading)
        }
    }

    struct Maximum: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "maximum",
            abstract: "Set the largest position error to accept, or print it.",
            discussion: """
                Fixes with a larger error are rejected at every accuracy level. With none, \
                only the limit of the level applies.

                EXAMPLES
                  backgrounder location maximum 15
                  backgrounder location maximum none
                """
        )

        @Argument(
            parsing: .allUnrecognized,
            help: ArgumentHelp("Position error in metres, or none.", valueName: "metres")
        )
        var metres: [String] = []

        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            _ = try length
        }

        private var length: Double?? {
            get throws { try parseMetres(metres, zero: false) }
        }

        func run() async throws {
            guard let length = try length else {
                let status = try await reading.client.call(Routes.location)
                return try reading.show(status.maximumAccuracy) { $0?.decimalText ?? "none" }
            }
            try await change(LocationChange(maximumAccuracy: .some(length)), reading)
        }
    }
}

private func change(_ change: LocationChange, _ reading: ReadingOptions) async throws {
    let status = try await reading.client.call(Routes.changeLocation, body: change)
    try reading.show(status) { $0.lines().joined(separator: "\n") }
}

extension Double {
    /// The shortest decimal text, without a trailing `.0`.
    fileprivate var decimalText: String {
        description.hasSuffix(".0") ? String(description.dropLast(2)) : description
    }
}
