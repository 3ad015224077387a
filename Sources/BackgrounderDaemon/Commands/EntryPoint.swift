import ArgumentParser
import CExecutor
import CLinux
import ChildProcesses
import Dispatch
import Glibc
import NIOCore
import NIOPosix
import SystemSupport

/// The entry point of `backgrounderd`.
package enum EntryPoint {
    /// Runs the command in this process's arguments and ends the process. Call it on the main thread, before any task.
    package static func run() -> Never {
        Keeper.runIfThisIsOne()
        occupyStandardDescriptors()
        signal(SIGPIPE, SIG_IGN)
        // Tuned: after 8 minutes of work the heaps take 12.5 MB instead of 14.6 MB.
        clinux_limit_heaps(2)
        // The default executor wakes an idle process once a second; NIO's event loops do not.
        cexecutor_replace_default { job in
            let job = unsafeBitCast(job, to: UnownedJob.self)
            let loop = MultiThreadedEventLoopGroup.singleton.any()
            loop.execute { job.runSynchronously(on: loop.executor.asUnownedSerialExecutor()) }
        }
        Task.detached {
            do {
                var command = try DaemonCommand.parseAsRoot()
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
                Glibc.exit(0)
            } catch {
                finish(error)
            }
        }
        dispatchMain()
    }

    /// Prints help and version to stdout, and invalid arguments as one line to stderr.
    private static func finish(_ error: any Error) -> Never {
        let code = DaemonCommand.exitCode(for: error).rawValue
        let text = DaemonCommand.message(for: error)
        guard code == 0 else {
            DaemonCommand.fail(
                code == 64 ? ParserMessage.line(text, see: helpPage) : ParserMessage.line(text),
                code: code
            )
        }
        do {
            try StandardOutput.write(text + "\n")
            Glibc.exit(0)
        } catch {
            DaemonCommand.fail(error)
        }
    }

    /// Returns the command that shows the help of the command in this process's arguments.
    private static var helpPage: String {
        let names = DaemonCommand.configuration.subcommands.map { $0._commandName }
        let page =
            if let name = CommandLine.arguments.dropFirst().first(where: names.contains) {
                "backgrounderd \(name) --help"
            } else {
                "backgrounderd --help"
            }
        guard DaemonCommand.isForCommand else { return page }
        return page.replacing("backgrounderd replay", with: "backgrounder track replay")
            .replacing("backgrounderd plan", with: "backgrounder fetch plan")
            .replacing("backgrounderd fleet-", with: "backgrounder fleet ")
    }
}
