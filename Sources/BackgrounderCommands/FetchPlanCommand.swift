import ArgumentParser
import BackgrounderAPI
import FoundationEssentials

extension FetchCommand {
    struct Plan: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "All runs that are planned, with when and why; or the plan for opens of a file, without a service.",
            discussion: """
                Sources of the interval minimum are planned for this day and the next, from
                when you looked in the last months; others run when their interval is over.

                With --opens it plans the 24 hours from --at on for the habit in FILE, which
                has a line {"at": time} for each time that somebody looked. The times are
                those at which a fetch should have ended; local time is that of TZ.

                EXAMPLES
                  backgrounder fetch plan
                  backgrounder fetch plan --opens opens.jsonl --at 2026-03-02 --runs 8
                  backgrounder fetch plan --opens opens.jsonl --at now --runs 24 --format json
                """
        )

        @Option(help: ArgumentHelp("Opens to plan for, in place of the service's.", valueName: "file.jsonl"))
        var opens: String?

        @Option(
            help: ArgumentHelp("With --opens: now, as the plan takes it (now unless given).", valueName: "time"),
            transform: PointInTime.parse
        )
        var at: PointInTime?

        @Option(
            help: ArgumentHelp("With --opens: fetches in 24 hours, 1 to 288 (8 unless given).", valueName: "n"),
            transform: wholeNumber("1 to 288")
        )
        var runs: Int?

        @Option(
            help: ArgumentHelp("With --opens: when the last fetch ended.", valueName: "time"),
            transform: PointInTime.parse
        )
        var last: PointInTime?

        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            if opens == nil {
                for (option, isGiven) in [("--at", at != nil), ("--runs", runs != nil), ("--last", last != nil)]
                where isGiven {
                    throw ValidationError("\(option) is for a plan of given opens: give --opens FILE too")
                }
            }
            if opens == "" { throw ValidationError("\"\" is no file of opens: give a path") }
            if let runs, !(1...288).contains(runs) {
                throw ValidationError("--runs \(runs) is no count of fetches a day: give 1 to 288")
            }
            if let at = at?.date, let last = last?.date, last > at {
                throw ValidationError(
                    "--last \(ISO8601.string(last)) is later than --at \(ISO8601.string(at)): exchange them"
                )
            }
        }

        func run() async throws {
            if let opens { try exec(opens) }
            let plan = try await reading.use { try await $0.call(Routes.fetchPlan) }
            try reading.show(plan) { FetchTable.plan($0) }
            if reading.format == .table, Output.isTerminal, !plan.isEmpty {
                try Output.print("\n" + FetchTable.chart(plan, from: Date(), width: Output.terminalSize.columns))
            }
        }

        /// The planner is the service's program's; this one only knows how to ask.
        private func exec(_ opens: String) throws -> Never {
            let at = at?.date ?? Date()
            var arguments = ["--opens", RuntimePaths.absolute(opens), "--at", ISO8601.string(at)]
            if let runs { arguments += ["--runs", String(runs)] }
            if let last { arguments += ["--last", ISO8601.string(last.date)] }
            try Launcher.exec(["plan"] + arguments + ["--format", reading.format.rawValue])
        }
    }
}

extension FetchTable {
    /// The next 24 hours of a plan: a row of marks for each source.
    static func chart(_ plan: [PlanEntry], from now: Date, width: Int) -> String {
        let offset = Calendar.current.timeZone.secondsFromGMT(for: now)
        var chart = DayChart(from: now, secondsFromGMT: offset, width: width)
        for source in Set(plan.map(\.source)).sorted() {
            chart.add(source.withoutControlCharacters, marks: plan.filter { $0.source == source }.map(\.at))
        }
        return chart.render()
    }
}
