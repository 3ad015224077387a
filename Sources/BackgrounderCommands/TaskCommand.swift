import ArgumentParser
import BackgrounderAPI
import NIOCore

struct TaskCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "task",
        abstract: "Commands that get a limited time in the background.",
        discussion: """
            The budget of a task counts while nobody is attached. At its grace before the
            end the task gets SIGTERM; at the end it is killed, with all that it started.

            EXAMPLES
              backgrounder task begin upload --budget 60s -- rsync -a photos/ nas:photos/
              backgrounder task begin sync --on detach -- ./sync.sh  # when all have left
              backgrounder task remaining 3
              backgrounder task end 3
              backgrounder task log 3
            """,
        subcommands: [
            List.self, Begin.self, Sample.self, End.self, Remaining.self, Log.self, Hooks.self, Unhook.self,
        ],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "The open tasks and the newest that are over, oldest first.",
            discussion: """
                EXAMPLES
                  backgrounder task list
                  backgrounder task list --format json
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let tasks = try await reading.use { try await $0.call(Routes.tasks) }
            try reading.show(tasks, TaskTable.render)
        }
    }

    struct Sample: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Begin the sample: Fibonacci's numbers, two a second, up to 10^40 and from the start; prints its id.",
            discussion: """
                EXAMPLES
                  backgrounder task sample
                  backgrounder task sample --budget 30s --grace 2s
                """
        )
        @OptionGroup var times: TaskTimeOptions
        @OptionGroup var reading: ReadingOptions

        func validate() throws { _ = try times.checked() }

        func run() async throws {
            let body = SampleRequest(budget: times.budget?.seconds, grace: times.grace?.seconds)
            let task = try await reading.use { try await $0.call(Routes.beginSample, body: body) }
            try reading.show(task) { String($0.id) }
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a task: SIGTERM, after its grace SIGKILL; returns when it is over.",
            discussion: """
                EXAMPLE
                  backgrounder task end 3
                """
        )
        @Argument(completion: NameCompletion.tasks, transform: parseID) var id: Int
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let task = try await reading.use { client in
                // As long as its grace, which is less than the longest budget.
                try await client.call(
                    Routes.endTask,
                    id: id,
                    patience: TimeAmount(TaskTimes.longestBudget + .seconds(30))
                )
            }
            try reading.show(task) { task in
                let detail = task.detail.map { ": \($0)" } ?? ""
                return "\(task.name) is \(task.state.rawValue)\(detail)".withoutControlCharacters
            }
        }
    }

    struct Remaining: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "The seconds of background time that a task has left, or unlimited while nothing counts.",
            discussion: """
                EXAMPLE
                  backgrounder task remaining 3
                """
        )
        @Argument(completion: NameCompletion.tasks, transform: parseID) var id: Int
        @OptionGroup var reading: ReadingOptions

        /// Absent while nothing counts.
        private struct Time: Encodable {
            var remaining: Double?
        }

        func run() async throws {
            let task = try await reading.use { try await $0.call(Routes.task, id: id) }
            guard task.state.isOpen else {
                throw CommandFailure(
                    "task \(id) is over: \(task.state.rawValue); it has no time left; `backgrounder task list` says more"
                )
            }
            try reading.show(Time(remaining: task.remaining)) { $0.remaining.map { $0.decimals(1) } ?? "unlimited" }
        }
    }

    struct Log: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "What a task printed: the first MiB of it.",
            discussion: """
                EXAMPLES
                  backgrounder task log 3
                  backgrounder task log 3 > upload.txt
                """
        )
        @Argument(completion: NameCompletion.tasks, transform: parseID) var id: Int
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let output = try await reading.use { try await $0.call(Routes.taskLog, id: id) }
            switch reading.format {
            case .json: try Output.json(output)
            case .table:
                try Output.write(output.text.printableLines)
                if output.truncated { Output.note("it printed more, which was not kept") }
            }
        }
    }

    struct Hooks: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "What begins each time the last client leaves.",
            discussion: """
                EXAMPLE
                  backgrounder task hooks
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let hooks = try await reading.use { try await $0.call(Routes.taskHooks) }
            try reading.show(hooks, TaskTable.render)
        }
    }

    struct Unhook: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove what was begun with --on; tasks of it go on.",
            discussion: """
                EXAMPLE
                  backgrounder task unhook sync
                """
        )
        @Argument(help: "The name that it was begun with.")
        var name: String
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            _ = try await reading.use { try await $0.call(Routes.removeTaskHook, name: name) }
        }
    }
}
