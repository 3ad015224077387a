import ArgumentParser
import BackgrounderAPI
import SystemSupport

struct TaskCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "task",
        abstract: "Run commands for a limited time in the background.",
        discussion: """
            The budget of a task counts only while no client is attached. When only its \
            grace is left, the task gets SIGTERM. At the end of the budget it is killed, \
            with all processes that it started. Without a subcommand, runs `task list`.

            EXAMPLES
              backgrounder task begin upload --budget 60s -- rsync -a photos/ nas:photos/
              backgrounder task begin sync --on detach -- ./sync.sh  # on each detach
              backgrounder task remaining 3
              backgrounder task end 3
              backgrounder task log 3
            """,
        subcommands: [
            List.self, Begin.self, Sample.self, End.self, Remaining.self, Log.self, Clear.self, Hooks.self,
            Unhook.self,
        ],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the open and the newest ended tasks, oldest first.",
            discussion: """
                EXAMPLES
                  backgrounder task list
                  backgrounder task list --format json
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let tasks = try await reading.client.call(Routes.tasks)
            try reading.show(tasks, TaskTable.render)
        }
    }

    struct Sample: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sample",
            abstract: "Begin the built-in sample task, and print its id.",
            discussion: """
                It computes Fibonacci numbers, two a second, and starts over at 10^40.

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
            let task = try await reading.client.call(Routes.beginSample, body: body)
            try reading.show(task) { String($0.id) }
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "end",
            abstract: "End a task, and return when it is over.",
            discussion: """
                The task gets SIGTERM, and SIGKILL after its grace.

                EXAMPLE
                  backgrounder task end 3
                """
        )
        @Argument(help: "Id of the task.", completion: NameCompletion.tasks, transform: parseID) var id: Int
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            // The end takes up to the grace, which is shorter than the longest budget.
            let task = try await reading.client.call(
                Routes.endTask,
                id: id,
                patience: TaskTimes.longestBudget + .seconds(30)
            )
            try reading.show(task) { task in
                let detail = task.detail.map { ": \($0)" } ?? ""
                return "\(task.name) is \(task.state.rawValue)\(detail)".withoutControlCharacters
            }
        }
    }

    struct Remaining: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remaining",
            abstract: "Print the background time that a task has left, in seconds.",
            discussion: """
                Prints unlimited while the budget does not count.

                EXAMPLE
                  backgrounder task remaining 3
                """
        )
        @Argument(help: "Id of the task.", completion: NameCompletion.tasks, transform: parseID) var id: Int
        @OptionGroup var reading: ReadingOptions

        /// `nil` while the budget does not count.
        private struct Time: Encodable {
            var remaining: Double?
        }

        func run() async throws {
            let task = try await reading.client.call(Routes.task, id: id)
            guard task.state.isOpen else {
                throw CommandFailure(
                    "task \(id) is over: \(task.state.rawValue); see `backgrounder task list`"
                )
            }
            try reading.show(Time(remaining: task.remaining)) { $0.remaining.map { $0.decimals(1) } ?? "unlimited" }
        }
    }

    struct Log: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log",
            abstract: "Print the output of a task, at most the first MiB.",
            discussion: """
                EXAMPLES
                  backgrounder task log 3
                  backgrounder task log 3 > upload.txt
                """
        )
        @Argument(help: "Id of the task.", completion: NameCompletion.tasks, transform: parseID) var id: Int
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let output = try await reading.client.call(Routes.taskLog, id: id)
            switch reading.format {
            case .json: try Output.json(output)
            case .table:
                try Output.write(output.text.printableLines)
                if output.truncated { Output.note("the output was longer; the rest was discarded") }
            }
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Remove the ended tasks from the list, with their output.",
            discussion: """
                Open tasks continue. A task of --repeat that begins again at the next attach \
                stays in the list.

                EXAMPLE
                  backgrounder task clear
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let reply = try await reading.client.call(Routes.clearTasks)
            try reading.show(reply) { "removed \(counted($0.removed, "task"))" }
        }
    }

    struct Hooks: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "hooks",
            abstract: "List the hooks: tasks that begin when the last client detaches.",
            discussion: """
                EXAMPLE
                  backgrounder task hooks
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let hooks = try await reading.client.call(Routes.taskHooks)
            try reading.show(hooks, TaskTable.render)
        }
    }

    struct Unhook: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unhook",
            abstract: "Remove a hook; its running tasks continue.",
            discussion: """
                EXAMPLE
                  backgrounder task unhook sync
                """
        )
        @Argument(help: "Name of the hook.")
        var name: String
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            _ = try await reading.client.call(Routes.removeTaskHook, name: name)
            try reading.confirm("removed \(name)")
        }
    }
}
