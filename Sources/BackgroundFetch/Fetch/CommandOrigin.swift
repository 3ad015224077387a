import BackgrounderAPI
import ChildProcesses
import FoundationEssentials
import Glibc

/// Fetches by running a command: what it prints is the content, its exit status says whether it is new.
package struct CommandOrigin: Sendable {
    /// What a command says by its exit status.
    private enum Status {
        static let newData: Int32 = 0
        static let noData: Int32 = 3
        /// A shell's, for what it cannot find and what it may not run.
        static let notExecutable: Int32 = 126
        static let notFound: Int32 = 127
        /// A shell's, for what signals 1 to 64 ended.
        static let signals: ClosedRange<Int32> = 129...192
    }

    private let keeper: String
    private let environment: [String: String]

    /// - Parameters:
    ///   - keeper: the path of `backgrounderd`, which holds a command's processes together.
    ///   - environment: variables of all commands, besides the few that every command inherits.
    package init(keeper: String = "/proc/self/exe", environment: [String: String] = [:]) {
        self.keeper = keeper
        self.environment = environment
    }

    /// Nothing that the command started is left when this returns, also where its task was cancelled.
    func fetch(_ source: FetchDefinition) async throws(FetchFailure) -> FetchReply {
        guard let output = CommandOutput(limit: FetchJudgement.contentLimit) else {
            throw FetchFailure("there is no descriptor left for what it prints")
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
            async let printed = blocking { output.read { process.kill() } }
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
        if Task.isCancelled { throw FetchFailure("it was broken off", kind: .cancelled, bytes: bytes) }
        if printed.isTooMuch {
            let limit = FetchJudgement.contentLimit >> 20
            throw FetchFailure("the command printed more than \(limit) MiB, and was ended", bytes: bytes)
        }
        guard let end else { throw FetchFailure("somebody killed what watched over the command", bytes: bytes) }
        let status = Int(end.exitStatus)
        switch end.exitStatus {
        case Status.newData:
            let content = FetchReply.Body.content(printed.content, mediaType: nil)
            return FetchReply(content, status: status, bytes: bytes, isSurelyNew: true, scope: .local)
        case Status.noData: return FetchReply(.unchanged, status: status, bytes: bytes)
        default:
            let what: String =
                switch end.exitStatus {
                case Status.notFound: "the command does not exist"
                case Status.notExecutable: "the command may not be executed"
                case Status.signals: "the command was ended by signal \(status - 128)"
                default: "the command failed"
                }
            let words = printed.lastError.isEmpty ? "" : ": \(printed.lastError)"
            throw FetchFailure("\(what) (exit status \(status))\(words)", status: status, bytes: bytes)
        }
    }
}
