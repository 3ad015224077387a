import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import SystemSupport

extension FetchCommand {
    struct Plan: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "plan",
            abstract: "Show the planned runs, with the time and the reason of each.",
            discussion: """
                Sources with the interval minimum are planned for today and tomorrow, from the \
                times at which you opened them in the last months. Other sources run when their \
                interval is over.

                With --opens, plans the 24 hours after --at from the opens in a file, without \
                the service. The file has one line {"at": TIME} for each open. The planned \
                times are those by which a fetch should be finished. TZ sets the local time.

                EXAMPLES
                  backgrounder fetch plan
                  backgrounder fetch plan --opens opens.jsonl --at 2026-03-02 --runs 8
                  backgrounder fetch plan --opens opens.jsonl --at now --runs 24 --format json
                """
        )

        @Option(
            help: ArgumentHelp(
                "Plan for the opens in this file, not for those of the service.",
                valueName: "file.jsonl"
            )
        )
        var opens: String?

        @Option(
            help: ArgumentHelp("With --opens: start of the plan (default now).", valueName: "time"),
            transform: PointInTime.parse
        )
        var at: PointInTime?

        @Option(
            help: ArgumentHelp("With --opens: fetches in 24 hours, 1 to 288 (default 8).", valueName: "n"),
            transform: wholeNumber("1 to 288")
        )
        var runs: Int?

        @Option(
            help: ArgumentHelp("With --opens: end of the last fetch.", valueName: "time"),
            transform: PointInTime.parse
        )
        var last: PointInTime?

        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            if opens == nil {
                for (option, isGiven) in [("--at", at != nil), ("--runs", runs != nil), ("--last", last != nil)]
                where isGiven {
                    throw ValidationError("\(option) has an effect only with --opens; pass --opens FILE too")
                }
            }
            if opens == "" { throw ValidationError("the file name of --opens is empty; pass a path") }
            if let runs, !(1...288).contains(runs) {
                throw ValidationError("--runs \(runs) is out of range; use 1 to 288")
            }
            if let at = at?.date, let last = last?.date, last > at {
                throw ValidationError(
                    "--last \(ISO8601.string(last)) is later than --at \(ISO8601.string(at)); swap them"
                )
            }
        }

        func run() async throws {
            if let opens { try exec(opens) }
            let plan = try await reading.client.call(Routes.fetchPlan)
            try reading.show(plan) { FetchTable.plan($0) }
            if reading.format == .table, StandardOutput.isTerminal, !plan.isEmpty {
                try Output.print(
                    "\n" + FetchTable.chart(plan, from: Date(), width: StandardOutput.terminalSize.columns)
                )
            }
        }

        /// Replaces this process with `backgrounderd`, which has the planner.
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
    /// A chart of the next 24 hours, with a row of marks for each source.
    static func chart(_ plan: [PlanEntry], from now: Date, width: Int) -> String {
        let offset = LocalClock.offset(at: now)
        var chart = DayChart(from: now, secondsFromGMT: offset, width: width)
        for source in Set(plan.map(\.source)).sorted() {
            chart.add(source.withoutControlCharacters, marks: plan.filter { $0.source == source }.map(\.at))
        }
        return chart.render()
    }
}
