import ArgumentParser
import BackgroundFetch
import BackgrounderAPI
import FoundationEssentials
import Glibc
import ReplayTools
import SystemSupport

/// `backgrounderd plan`: plans fetches from a file of opens, without a service.
struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Plan the fetches of 24 hours from a file of opens, without a service.",
        discussion: """
            The file has one line {"at": TIME} for each open. The planned times are those by which a fetch should \
            be finished. TZ sets the local time.

            EXAMPLES
              backgrounder fetch plan --opens opens.jsonl --at 2026-03-02 --runs 8
              TZ=Europe/Berlin backgrounder fetch plan --opens opens.jsonl --format json
            """
    )

    @Option(help: ArgumentHelp("File of opens, one JSON object a line.", valueName: "file.jsonl"))
    var opens: String

    @Option(help: ArgumentHelp("Start of the plan.", valueName: "time"))
    var at: TimeArgument

    @Option(help: ArgumentHelp("Fetches in 24 hours, 1 to 288.", valueName: "n"))
    var runs = 8

    @Option(help: ArgumentHelp("End of the last fetch.", valueName: "time"))
    var last: TimeArgument?

    @Option(help: "Output format: table for people, json for scripts.")
    var format = OutputFormat.table

    func validate() throws {
        guard (1...288).contains(runs) else {
            throw ValidationError("--runs \(runs) is out of range; use 1 to 288")
        }
        if let last, last.date > at.date {
            throw ValidationError("--last \(last) is later than --at \(at); use an earlier --last")
        }
    }

    func run() throws {
        do {
            let zone = LocalZone.system
            let file = try OpensFile(path: RuntimePaths.absolute(opens), now: at.date, zone: zone)
            let habit = UsageHabit(opens: file.opens, now: at.date, zone: zone)
            let plan = FetchPlanner.plan(
                habit,
                from: at.date,
                until: at.date.addingTimeInterval(86_400),
                runs: runs,
                lastEnd: last?.date,
                zone: zone
            )
            let entries = plan.map { PlannedTime(at: $0.end, why: $0.why) }
            switch format {
            case .json: try StandardOutput.write(JSON.line(entries) + "\n")
            case .table: try StandardOutput.write(table(entries, habit, zone))
            }
        } catch let error as OpensFileError {
            DaemonCommand.fail(error.description, code: error.isMissing ? DaemonCommand.noSuchItem : 1)
        } catch let error as OutputError {
            DaemonCommand.fail(error)
        }
    }

    private func table(_ entries: [PlannedTime], _ habit: UsageHabit, _ zone: LocalZone) -> String {
        var rows = Table([("AT", .time), ("WHY", .left)])
        for entry in entries {
            rows.add([StandardOutput.isTerminal ? entry.at.localSeconds : ISO8601.string(entry.at), entry.why])
        }
        let text = rows.render() + "\n"
        guard let width = StandardOutput.widthLimit else { return text }
        var chart = DayChart(from: at.date, secondsFromGMT: zone.secondsFromGMT(at.date), width: width)
        if habit.isKnown { chart.add("looks", values: habit.day(from: at.date, zone: zone)) }
        chart.add("fetches", marks: entries.map(\.at))
        return text + "\n" + chart.render() + "\n"
    }

    /// A ``PlanEntry`` without a source.
    private struct PlannedTime: Encodable {
        /// When a fetch should be finished.
        var at: Date
        var why: String
    }
}

/// A time in ISO 8601.
struct TimeArgument: ExpressibleByArgument, CustomStringConvertible {
    let date: Date

    init?(argument: String) {
        guard let date = ISO8601.date(argument) else { return nil }
        self.date = date
    }

    var description: String { ISO8601.string(date) }
}
