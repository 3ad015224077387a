import Foundation
import Logging
import SystemSupport
import TestSupport
import Testing

@testable import Speech

/// A cache in a folder of its own, with a shell script as its renderer.
///
/// The script reports each text when it begins, and returns a file of noise. Texts that begin with `wait` wait for
/// ``release()``.
final class SpeechRig: Sendable {
    let scratch: ScratchDirectory
    let log = LogLines()
    let report: NamedPipe
    let program: String

    /// The size of each file in bytes.
    static let size = 1044

    /// Creates a rig.
    ///
    /// - Parameter script: commands of the renderer instead of returning noise. The text is in `$text`, and `say`
    ///   returns noise.
    init(_ script: String = "say") async throws {
        scratch = try ScratchDirectory()
        report = try NamedPipe(scratch.file("report"))
        try #require(mkfifo(scratch.file("gate"), 0o600) == 0)
        try scratch.write(Self.noise(Self.size), to: "noise.wav")
        program = try await scratch.script(
            """
            cd '\(scratch.path)'
            text=$(cat)
            say() { cat noise.wav; }
            printf '%s\\n' "$text" >> texts
            printf '%s\\n' "$text" > report
            case $text in wait*) read -r line < gate ;; esac
            \(script)
            """,
            to: "renderer"
        )
    }

    /// Returns a WAV file of `size` bytes.
    static func noise(_ size: Int) -> Data {
        let little = { (value: Int) in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        let samples = (0..<size - 44).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        return Data(
            Array("RIFF".utf8) + little(size - 8) + Array("WAVEfmt ".utf8) + little(16) + [1, 0, 1, 0] + little(8000)
                + little(16000) + [2, 0, 16, 0] + Array("data".utf8) + little(size - 44) + samples
        )
    }

    var folder: String { scratch.file("speech") }

    /// The names in the folder of the cache.
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }

    /// The texts that the renderer began with, in order.
    var texts: [String] {
        let lines = try? String(contentsOfFile: scratch.file("texts"), encoding: .utf8).split(separator: "\n")
        return (lines ?? []).map(String.init)
    }

    func renderer(timeLimit: Duration = .seconds(60), sizeLimit: Int = 1_000_000) -> SpeechRenderer {
        SpeechRenderer(program: program, timeLimit: timeLimit, sizeLimit: sizeLimit)
    }

    func cache(
        _ renderer: SpeechRenderer? = nil,
        limit: Int = 1_000_000,
        keeper: String = BuiltProducts.backgrounderd,
        clock: any Clock<Duration> = ContinuousClock(),
        retry: Double = 600
    ) -> SpeechCache {
        SpeechCache(
            folder: folder,
            limit: limit,
            renderer: renderer ?? self.renderer(),
            keeper: keeper,
            clock: clock,
            retryDelay: RetryDelay(first: retry, longest: retry, jitter: 0),
            logger: Logger(label: "test") { _ in self.log }
        )
    }

    /// Returns the path that the cache has for `text`.
    func path(_ text: String) throws -> String {
        folder + "/" + renderer().fileName(for: try SpeechText(text))
    }

    func exists(_ text: String) throws -> Bool { FileManager.default.fileExists(atPath: try path(text)) }

    /// Returns once the renderer has begun with `text`.
    func began(_ text: String) async throws {
        try await report.reader.wait(for: text) { lines, _ in lines.contains(text) ? true : nil }
    }

    /// Lets the renderer continue with the text that waits.
    func release() async throws { try await Tool.run("sh", "-c", "echo > '\(scratch.file("gate"))'") }
}

extension MonotonicTime {
    /// Later than any test takes.
    static var far: MonotonicTime { .now + .seconds(60) }
}

extension SpeechCache {
    /// The error for `text`; `nil` if there is a file.
    func error(for text: String, before deadline: MonotonicTime = .far) async -> SpeechError? {
        do {
            _ = try await file(for: text, before: deadline)
            return nil
        } catch {
            return error
        }
    }

    /// Returns when there is nothing to render ahead.
    func finishPrepared() async { await lanes[.ahead]?.value }
}
