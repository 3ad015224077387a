import ArgumentParser
import BackgrounderAPI
import SystemSupport

extension TaskCommand {
    struct Begin: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "begin",
            abstract: "Begin a task, and print its id.",
            discussion: """
                The command runs in the current directory, as the user of the service. Its \
                environment has PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_*, TZ, TMPDIR and \
                XDG_RUNTIME_DIR of the service, the variables that lead backgrounder to it, \
                those of tasks.environment in the configuration, and those of --env.

                With --on detach, nothing begins now. A task begins each time the last client \
                detaches, until `task unhook NAME`. With --on place, a task begins when a rule \
                in the configuration names it. Its environment has BACKGROUNDER_PLACE (the \
                name), BACKGROUNDER_PLACE_EVENT and BACKGROUNDER_PLACE_SOURCE_ID.

                EXAMPLES
                  backgrounder task begin upload --budget 60s --grace 10s -- ./upload.sh
                  backgrounder task begin copy --env RSYNC_RSH='ssh -p 2222' -- ./copy.sh
                  backgrounder task begin render --repeat -- blender -b scene.blend -a
                  backgrounder task begin sync --on detach -- rsync -a photos/ nas:photos/
                  backgrounder task begin open-gate --on place -- ./open-gate.sh
                """
        )

        @Argument(help: "Name of the task, shown in lists.")
        var name: String
        @OptionGroup var times: TaskTimeOptions
        @Flag(help: "If the task used up its budget, begin it again at the next attach.")
        var `repeat` = false
        @Flag(help: "Count the budget while a client is attached, too.")
        var strict = false
        @Option(
            help: ArgumentHelp(
                "Begin it not now but when the last client detaches, or when a rule of a place names it.",
                valueName: "detach|place"
            )
        )
        var on: TaskHookEvent?
        @Flag(help: "With --on: if a hook of that name exists, change nothing.")
        var ifAbsent = false
        @Option(
            help: ArgumentHelp("Set an environment variable; may be repeated.", valueName: "name=value"),
            transform: assignment
        )
        var env: [Assignment] = []
        @OptionGroup var reading: ReadingOptions
        @Argument(parsing: .postTerminator, help: "Program and arguments, after --.")
        var command: [String] = []

        /// An environment variable and its value.
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
                repeat: `repeat`,
                on: on
            )
        }

        func validate() throws {
            if let problem = request.nameProblem { throw ValidationError(problem) }
            guard let program = command.first, !program.isEmpty else {
                throw ValidationError(
                    "no command to run; put one after --, as in `task begin upload -- ./upload.sh`"
                )
            }
            _ = try times.checked()
            if ifAbsent, on == nil { throw ValidationError("--if-absent has an effect only with --on; pass --on too") }
        }

        func run() async throws {
            let client = reading.client
            switch on {
            case nil:
                let task = try await client.call(Routes.beginTask, body: request)
                try reading.show(task) { String($0.id) }
            case .detach?, .place?:
                let add = { try await client.call(Routes.addTaskHook, body: request) }
                let hook =
                    if ifAbsent {
                        try await client.findOrAdd {
                            try await client.call(Routes.taskHooks).first { $0.name == name }
                        } _: {
                            try await add()
                        }
                    } else {
                        try await add()
                    }
                try reading.show(hook) { $0.name.withoutControlCharacters }
            }
        }
    }
}

extension TaskHookEvent: FixedWord {}

/// The time limits of a task.
struct TaskTimeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Background time, at most 10m (default 180s).", valueName: "duration"),
        transform: duration
    )
    var budget: Duration?

    @Option(
        help: ArgumentHelp(
            "Warning time before the budget ends (default 5s, or half a short budget).",
            valueName: "duration"
        ),
        transform: duration
    )
    var grace: Duration?

    /// Returns the limits with their defaults.
    ///
    /// - Throws: `ValidationError` if they are out of range.
    func checked() throws -> TaskTimes {
        do {
            return try TaskTimes(budget: budget, grace: grace)
        } catch {
            throw ValidationError(error.description)
        }
    }

    @Sendable private static func duration(_ text: String) throws -> Duration {
        guard let duration = Durations.duration(text) else {
            throw ValidationError("\(text.debugDescription) is not a valid duration; use one such as 500ms, 2s or 15m")
        }
        return duration
    }
}
