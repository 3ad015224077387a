package import Foundation

/// The result of a program that ran to its end.
package struct ProgramRun: Sendable, CustomStringConvertible {
    package var command: String
    package var output: Data
    package var errors: String
    /// The exit code, or 128 + N if signal N ended the program.
    package var exitCode: Int32

    package var text: String { String(decoding: output, as: UTF8.self) }
    package var description: String { "\(command): exit code \(exitCode); \(errors)\(text.prefix(500))" }

    /// Runs the program at `path`. A thread of its own waits for the end.
    ///
    /// - Throws: ``DeadlinePassed`` if the program takes longer than `seconds`. It is then killed.
    package static func of(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        within seconds: Double = 30
    ) async throws -> ProgramRun {
        let (output, errors) = (try PipeEnds(), try PipeEnds())
        let pid = try spawn(
            path,
            arguments,
            environment: environment,
            descriptors: [1: output.writeEnd, 2: errors.writeEnd]
        )
        close(output.writeEnd)
        close(errors.writeEnd)
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let texts = readToEnd([output.readEnd, errors.readEnd], within: seconds)
                if texts == nil { kill(pid, SIGKILL) }
                var status: Int32 = 0
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                let command = ([path] + arguments).joined(separator: " ")
                if let texts {
                    let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
                    let errors = String(decoding: texts[1], as: UTF8.self)
                    continuation.resume(
                        returning: ProgramRun(command: command, output: texts[0], errors: errors, exitCode: code)
                    )
                } else {
                    continuation.resume(throwing: DeadlinePassed(what: "end of \(command)", seconds: seconds))
                }
            }
        }
    }
}

/// Reads the descriptors to their ends and closes them. Returns `nil` if that takes longer than `seconds`.
private func readToEnd(_ descriptors: [Int32], within seconds: Double) -> [Data]? {
    defer { for descriptor in descriptors { close(descriptor) } }
    let deadline = ContinuousClock.now + .seconds(seconds)
    var texts = descriptors.map { _ in Data() }
    // poll(2) ignores negative descriptors.
    var waiting = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while waiting.contains(where: { $0.fd >= 0 }) {
        let left = (deadline - .now) / .milliseconds(1)
        guard left > 0 else { return nil }
        guard poll(&waiting, nfds_t(waiting.count), Int32(left.rounded(.up))) >= 0 || errno == EINTR else { return nil }
        for index in waiting.indices where waiting[index].fd >= 0 && waiting[index].revents != 0 {
            let count = read(waiting[index].fd, &buffer, buffer.count)
            if count > 0 { texts[index].append(contentsOf: buffer[..<count]) } else { waiting[index].fd = -1 }
        }
    }
    return texts
}
