import BackgrounderAPI
import SystemSupport

/// Tables of tasks and hooks.
enum TaskTable {
    static func render(_ tasks: [BackgroundTask]) -> String {
        guard !tasks.isEmpty else {
            return "No tasks; begin one with `backgrounder task begin NAME -- COMMAND`."
        }
        var table = Table([
            ("ID", .right), ("NAME", .left), ("STATE", .left), ("LEFT", .right), ("USED", .right), ("BUDGET", .right),
            ("PID", .right), ("EXIT", .right), ("COMMAND", .left),
        ])
        for task in tasks {
            let left = task.state.isOpen ? task.remaining.map { "\($0.decimals(1)) s" } ?? "unlimited" : ""
            table.add([
                String(task.id), task.name, task.state.rawValue, left, "\(task.used.decimals(1)) s",
                "\(task.budget.decimals(1)) s", task.state.isOpen ? task.pid.map(String.init) ?? "" : "",
                task.exitStatus.map(String.init) ?? "", what(task),
            ])
        }
        return table.render()
    }

    static func render(_ hooks: [TaskHook]) -> String {
        guard !hooks.isEmpty else {
            return "No hooks; add one with `backgrounder task begin NAME --on detach -- COMMAND`."
        }
        var table = Table([
            ("NAME", .left), ("ADDED", .left), ("ON", .left), ("BUDGET", .right), ("GRACE", .right), ("COMMAND", .left),
        ])
        for hook in hooks {
            table.add([
                hook.name, hook.declared ? "in file" : "by command", hook.on.rawValue, "\(hook.budget.decimals(1)) s",
                "\(hook.grace.decimals(1)) s", hook.command.joined(separator: " "),
            ])
        }
        return table.render()
    }

    /// The command and the detail of its state, as far as there are any.
    private static func what(_ task: BackgroundTask) -> String {
        [task.command.isEmpty ? nil : task.command.joined(separator: " "), task.detail].compactMap(\.self).joined(
            separator: ": "
        )
    }

}
