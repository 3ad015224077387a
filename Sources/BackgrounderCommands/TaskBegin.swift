import ArgumentParser
import BackgrounderAPI

extension TaskCommand {
    struct Begin: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Begin a task; prints its id.",
            discussion: """
                The command runs in the caller's directory, as the service's user. It sees
                PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_*, TZ, TMPDIR and
                XDG_RUNTIME_DIR of the service, the variables of tasks.environment in the
                configuration, and those of --env. With --on detach nothing begins now: a
                task begins each time the last client leaves, until `task unhook NAME`.

                EXAMPLES
                  backgrounder task begin upload --budget 60s --grace 10s -- ./upload.sh
                  backgrounder task begin copy --env RSYNC_RSH='ssh -p 2222' -- ./copy.sh
                  backgrounder task begin render --repeat -- blender -b scene.blend -a
                  backgrounder task begin sync --on detach -- rsync -a photos/ nas:photos/
                """
        )

        enum Occasion: String, ExpressibleByArgument, CaseIterable {
            case detach
        }

        @Argument(help: "A name for it, such as shall be read in lists.")
        var name: String
        @OptionGroup var times: TaskTimeOptions
        @Flag(help: "When its budget was used up, begin it again as soon as a client attaches.")
        var `repeat` = false
        @Flag(help: "Count its budget also while somebody is attached.")
        var strict = false
        @Option(help: "When to begin it, each time: detach.")
        var on: Occasion?
        @Option(
            help: ArgumentHelp("Set a variable for the command; repeat it for more.", valueName: "name=value"),
            transform: assignment
        )
        var env: [Assignment] = []
        @OptionGroup var reading: ReadingOptions
        @Argument(parsing: .postTerminator, help: "After --: the program and its arguments.")
        var command: [String] = []

        /// A variable and its value.
        struct Assignment {
            var name: String
            var value: String
        }

        @Sendable private static func assignment(_ text: String) throws -> Assignment {
            guard case .assigned(let name, let value)? = EnvironmentVariable(text) else {
                throw ValidationError(
                    "\(text.debugDescription) is not NAME=VALUE; NAME is \(EnvironmentVariable.allowedNames)"
                )
            }
            return Assignment(name: name, value: value)
        }

        private var request: TaskRequest {
            TaskRequest(
                name: name,
                command: command,
                directory: RuntimePaths.absolute("."),
                environment: env.isEmpty ? nil : Dictionary(env.map { ($0.name, $0.value) }) { $1 },
                budget: times.budget?.seconds,
                grace: times.grace?.seconds,
                strict: strict,
                repeat: `repeat`
            )
        }

        func validate() throws {
            if let problem = request.nameProblem { throw ValidationError(problem) }
            guard let program = command.first, !program.isEmpty else {
                throw ValidationError(
                    "there is no command: give one after --, as in `task begin upload -- ./upload.sh`"
                )
            }
            _ = try times.checked()
        }

        func run() async throws {
            switch on {
            case nil:
                let task = try await reading.use { try await $0.call(Routes.beginTask, body: request) }
                try reading.show(task) { String($0.id) }
            case .detach:
                let hook = try await reading.use { try await $0.call(Routes.addTaskHook, body: request) }
                try reading.show(hook) { $0.name.withoutControlCharacters }
            }
        }
    }
}

/// How long a task may take.
struct TaskTimeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Its background time, at most 10m (180s unless given).", valueName: "duration"),
        transform: duration
    )
    var budget: Duration?

    @Option(
        help: ArgumentHelp(
            "So long before the end it is asked to end (5s unless given, or half of a short budget).",
            valueName: "duration"
        ),
        transform: duration
    )
    var grace: Duration?

    /// - Throws: `ValidationError`.
    func checked() throws -> TaskTimes {
        do {
            return try TaskTimes(budget: budget, grace: grace)
        } catch {
            throw ValidationError(error.description)
        }
    }

    @Sendable private static func duration(_ text: String) throws -> Duration {
        guard let duration = Durations.duration(text) else {
            throw ValidationError("\(text.debugDescription) is no duration: give 500ms, 2s, 15m or the like")
        }
        return duration
    }
}
