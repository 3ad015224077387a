import ArgumentParser
import BackgrounderAPI

struct LocationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "location",
        abstract: "The location mode: start, stop, accuracy, filter.",
        discussion: """
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
            abstract: "What it does, and what became of the fixes.",
            discussion: """
                EXAMPLES
                  backgrounder location
                  backgrounder location status --format json | jq .quality
                """
        )

        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let status = try await reading.use { try await $0.call(Routes.location) }
            try reading.show(status) { $0.lines.printable }
        }
    }

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Begin to track; a second start changes nothing.",
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
            abstract: "Set how exact positions should be, or print it.",
            discussion: """
                EXAMPLES
                  backgrounder location accuracy
                  backgrounder location accuracy hundredMeters
                """
        )

        @Argument(help: "One of \(DesiredAccuracy.allCases.map(\.rawValue).joined(separator: ", ")).")
        var level: DesiredAccuracy?

        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            guard let level else {
                let status = try await reading.use { try await $0.call(Routes.location) }
                return try reading.show(status.desiredAccuracy) { $0.rawValue }
            }
            try await change(LocationChange(desiredAccuracy: level), reading)
        }
    }

    struct Filter: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set the metres between points (0 or none: every fix), or print them.",
            discussion: """
                EXAMPLES
                  backgrounder location filter
                  backgrounder location filter 10
                  backgrounder location filter none
                """
        )

        @Argument(parsing: .allUnrecognized, help: ArgumentHelp("Metres from 0 on, or none.", valueName: "metres"))
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
                let status = try await reading.use { try await $0.call(Routes.location) }
                return try reading.show(status.distanceFilter) { $0 == 0 ? "none" : $0.decimalText }
            }
            try await change(LocationChange(distanceFilter: length ?? 0), reading)
        }
    }

    struct Maximum: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Set the largest accuracy that is taken at any level (none: the level alone decides), or print it.",
            discussion: """
                EXAMPLES
                  backgrounder location maximum 15
                  backgrounder location maximum none
                """
        )

        @Argument(parsing: .allUnrecognized, help: ArgumentHelp("Metres above 0, or none.", valueName: "metres"))
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
                let status = try await reading.use { try await $0.call(Routes.location) }
                return try reading.show(status.maximumAccuracy) { $0?.decimalText ?? "none" }
            }
            try await change(LocationChange(maximumAccuracy: .some(length)), reading)
        }
    }
}

private func change(_ change: LocationChange, _ reading: ReadingOptions) async throws {
    let status = try await reading.use { try await $0.call(Routes.changeLocation, body: change) }
    try reading.show(status) { $0.lines.printable }
}

/// `nil` where nothing was given, `.some(nil)` for `none`.
func parseMetres(_ texts: [String], zero: Bool) throws -> Double?? {
    guard let text = texts.first else { return nil }
    if texts.count == 1, text == "none" { return .some(nil) }
    guard texts.count == 1, let value = Double(text), value.isFinite, zero ? value >= 0 : value > 0, value <= 20_037_508
    else {
        let least = zero ? "from 0 on" : "above 0"
        throw ValidationError(
            "\(texts.joined(separator: " ").debugDescription) is no length: give metres \(least), or none"
        )
    }
    return value
}

extension Double {
    /// Without `.0`.
    fileprivate var decimalText: String {
        description.hasSuffix(".0") ? String(description.dropLast(2)) : description
    }
}
