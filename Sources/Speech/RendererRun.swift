import CLinux
import ChildProcesses
import FoundationEssentials
import Glibc
import Logging
import SystemSupport

/// One run of the renderer's program, in a child process.
struct RendererRun {
    /// Tuned: how long a keeper may take to kill its tree before it is killed itself.
    private static let keeperPatience = Duration.seconds(7)
    /// The maximum number of characters from the program's stderr in an error.
    private static let reasonLimit = 200

    let renderer: SpeechRenderer
    /// The path of `backgrounderd`, the program of the keeper process.
    let keeper: String
    let clock: any Clock<Duration>
    /// How much lower than that of the service the priority of the program is.
    let niceness: Int
    let logger: Logger

    /// Why the run was ended before the program ended by itself.
    private enum Step {
        case ended(CommandEnd?)
        case late
        case cancelled
    }

    /// Returns the speech for `text` as a WAV file.
    ///
    /// When this returns, the program and all that it started have ended. If the task is cancelled, they are killed.
    ///
    /// - Throws: ``SpeechError``.
    func speech(for text: SpeechText) async throws(SpeechError) -> Data {
        let program = try renderer.find()
        guard let output = CommandOutput(limit: renderer.sizeLimit) else {
            throw .failed("out of file descriptors")
        }
        defer { output.closeReadEnds() }
        let command = niceness > 0 ? ["nice", "-n", String(niceness), program] : [program]
        let mark = "BACKGROUNDER_SPEECH_RUN=\(String(UInt64.random(in: 0 ... .max), radix: 16))"
        let order = CommandOrder(
            command + renderer.options,
            directory: "/",
            environment: ["BACKGROUNDER_SPEECH_RUN": String(mark.split(separator: "=")[1])],
            mark: mark
        )
        let process: KeptProcess
        do throws(SpawnFailure) {
            defer { output.closeWriteEnds() }
            guard let input = Self.pipe(with: text.content) else { throw SpawnFailure(.keeper, keeper, errno) }
            defer { close(input) }
            process = try await KeptProcess.begin(order, keeper: keeper, input: input, output: output.writeEnds)
        } catch {
            throw .failed(error.description)
        }
        async let printed = blocking(onThread: "speech output") { output.read { process.kill() } }
        let (end, reason) = await follow(process)
        output.commandIsOver()
        if end?.isComplete == false { logger.error("Cannot kill some processes of \(renderer.program)") }
        return try content(await printed, end, reason)
    }

    /// Waits for the end of the process, and kills it at the time limit or if the task is cancelled.
    ///
    /// - Returns: its end, and the error if it was killed.
    private func follow(_ process: KeptProcess) async -> (CommandEnd?, SpeechError?) {
        await withTaskGroup(of: Step.self) { [clock, renderer] group in
            group.addTask { .ended(await process.end()) }
            group.addTask { (try? await clock.sleep(for: renderer.timeLimit)) == nil ? .cancelled : .late }
            var reason: SpeechError?
            var rescue: Task<Void, Never>?
            defer { rescue?.cancel() }
            while let step = await group.next() {
                switch step {
                case .ended(let end):
                    group.cancelAll()
                    return (end, reason)
                case .late:
                    let limit = renderer.timeLimit.seconds.decimals(1)
                    reason = .failed("\(renderer.program) took longer than \(limit) s and was killed")
                case .cancelled: reason = .cancelled
                }
                process.kill()
                // Not a child task: it must wait although this task is cancelled.
                rescue = Task {
                    if (try? await clock.sleep(for: Self.keeperPatience)) != nil { process.killKeeper() }
                }
            }
            return (nil, reason)
        }
    }

    private func content(
        _ printed: CommandOutput.Printed,
        _ end: CommandEnd?,
        _ reason: SpeechError?
    ) throws(SpeechError) -> Data {
        if let reason { throw reason }
        let name = renderer.program
        if printed.isTooMuch { throw .failed("\(name) wrote more than \(renderer.sizeLimit) bytes and was killed") }
        guard let end else { throw .failed("the keeper process of \(name) was killed") }
        guard end.exitStatus == 0 else {
            let how =
                end.exitStatus > 128
                ? "was killed by signal \(end.exitStatus - 128)" : "failed (exit status \(end.exitStatus))"
            let words = printed.lastError.withoutControlCharacters.prefix(Self.reasonLimit)
            throw .failed("\(name) \(how)" + (words.isEmpty ? "" : ": \(words)"))
        }
        guard let file = WaveFile.file(of: printed.content) else {
            throw .failed("the output of \(name) is not a WAV file with sound")
        }
        return file
    }

    /// Returns the read end of a pipe that contains `text`; `nil` and `errno` if there are no more descriptors.
    private static func pipe(with text: String) -> CInt? {
        var ends: [CInt] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else { return nil }
        // Never waits: even the smallest pipe has room for twice the longest text.
        let bytes = Array(text.utf8)
        _ = write(ends[1], bytes, bytes.count)
        close(ends[1])
        return ends[0]
    }
}
