import BackgrounderAPI
import ChildProcesses
import FoundationEssentials
import Glibc
import SystemSupport
import WebSupport

/// Fetches by running a command. Its standard output is the content, and its exit status tells whether that is new.
package struct CommandOrigin: Sendable {
    /// The exit statuses with a meaning; all others are failures.
    private enum Status {
        static let newData: Int32 = 0
        static let noData: Int32 = 3
        /// Statuses that shells use for commands that cannot be executed or found.
        static let notExecutable: Int32 = 126
        static let notFound: Int32 = 127
        /// Statuses for commands killed by a signal, as in shells: 128 plus a signal from 1 to 64.
        static let signals: ClosedRange<Int32> = 129...192
    }

    private let keeper: String
    private let environment: [String: String]

    /// Creates an origin that runs each command under a keeper process.
    ///
    /// - Parameters:
    ///   - keeper: the path of `backgrounderd`, the program of the keeper process.
    ///   - environment: variables for all commands, in addition to the few that every command inherits.
    package init(keeper: String = "/proc/self/exe", environment: [String: String] = [:]) {
        self.keeper = keeper
        self.environment = environment
    }

    /// Runs the command of `source` and returns its output.
    ///
    /// When this returns, all processes that the command started have ended, even if the task was cancelled.
    ///
    /// - Throws: ``FetchFailure`` if the command cannot be started, fails, prints too much or is cancelled.
    func fetch(_ source: FetchDefinition) async throws(FetchFailure) -> FetchReply {
        guard let output = CommandOutput(limit: FetchLimits.contentLimit) else {
            throw FetchFailure("cannot capture the output of the command: out of file descriptors")
        }
        defer { output.closeReadEnds() }
        let number = String(UInt64.random(in: 0 ... .max), radix: 16)
        let order = CommandOrder(
            source.command ?? [],
            directory: source.directory ?? "/",
            environment: environment.merging(["BACKGROUNDER_FETCH": source.name, "BACKGROUNDER_FETCH_RUN": number]) {
                $1
            },
            mark: "BACKGROUNDER_FETCH_RUN=\(number)"
        )
        let process: KeptProcess
        do {
            defer { output.closeWriteEnds() }
            process = try await KeptProcess.begin(order, keeper: keeper, output: output.writeEnds)
        } catch {
            throw FetchFailure(error.description)
        }
        let (end, printed) = await withTaskCancellationHandler {
            async let printed = blocking(onThread: "command output") { output.read { process.kill() } }
            let end = await process.end()
            output.commandIsOver()
            return (end, await printed)
        } onCancel: {
            process.kill()
        }
        return try reply(end, printed)
    }

    private func reply(_ end: CommandEnd?, _ printed: CommandOutput.Printed) throws(FetchFailure) -> FetchReply {
        let bytes = printed.content.count
        if Task.isCancelled { throw FetchFailure("the fetch was cancelled", kind: .cancelled, bytes: bytes) }
        if printed.isTooMuch {
            let limit = FetchLimits.contentLimit >> 20
            throw FetchFailure("the command printed more than \(limit) MiB and was killed", bytes: bytes)
        }
        guard let end else { throw FetchFailure("the keeper process of the command was killed", bytes: bytes) }
        let status = Int(end.exitStatus)
        switch end.exitStatus {
        case Status.newData:
            let content = FetchReply.Body.content(printed.content, mediaType: nil)
            return FetchReply(content, status: status, bytes: bytes, isSurelyNew: true, scope: .local)
        case Status.noData: return FetchReply(.unchanged, status: status, bytes: bytes)
        default:
            let what: String =
                switch end.exitStatus {
                case Status.notFound: "the command was not found"
                case Status.notExecutable: "the command is not executable"
                case Status.signals: "the command was killed by signal \(status - 128)"
                default: "the command failed"
                }
            let words = printed.lastError.isEmpty ? "" : ": \(printed.lastError)"
            throw FetchFailure("\(what) (exit status \(status))\(words)", status: status, bytes: bytes)
        }
    }
}
