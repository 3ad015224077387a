import FoundationEssentials
import Glibc
import SystemSupport
import WebSupport

/// The program that renders speech, and its settings: espeak-ng, or one that takes the same options.
package struct SpeechRenderer: Hashable, Sendable {
    /// A path, or a name that is searched in PATH.
    package var program: String
    /// The name of a voice, such as `en-gb`; `nil` for the program's default.
    package var voice: String?
    /// Words per minute; `nil` for the program's default.
    package var speed: Int?
    /// The time after which the program is killed.
    package var timeLimit: Duration
    /// The maximum number of bytes of one file; the program is killed if it writes more.
    package var sizeLimit: Int

    /// Creates a renderer. The program does not have to exist yet.
    ///
    /// - Parameters:
    ///   - sizeLimit: bytes. Tuned: the longest text at 80 words per minute has 15 MB.
    package init(
        program: String = "espeak-ng",
        voice: String? = nil,
        speed: Int? = nil,
        timeLimit: Duration = .seconds(10),
        sizeLimit: Int = 20_000_000
    ) {
        (self.program, self.voice, self.speed) = (program, voice, speed)
        (self.timeLimit, self.sizeLimit) = (timeLimit, sizeLimit)
    }

    /// The options for a text on stdin and a WAV stream on stdout.
    ///
    /// The text is never an argument: it would be visible in ps(1), and could be an option. The stream is not written
    /// to a file by the program, because espeak-ng ignores write errors: on a full disk it leaves half a text and
    /// reports success.
    var options: [String] {
        // UTF-8 in every locale.
        var options = ["-b", "1"]
        if let voice { options += ["-v", voice] }
        if let speed { options += ["-s", String(speed)] }
        return options + ["--stdin", "--stdout"]
    }

    /// Returns the name of the file for `text`: a SHA-256 of everything that determines its content.
    func fileName(for text: SpeechText) -> String {
        let parts = [program, voice ?? "", speed.map(String.init) ?? "", text.content]
        // No part contains the separator.
        let digest = Array(parts.joined(separator: "\0").utf8).withUnsafeBytes { SHA256.digest($0) }
        return SHA256.hexadecimal(digest) + SpeechFolder.suffix
    }

    /// Returns the path of the program.
    ///
    /// - Throws: ``SpeechError/unavailable(_:)`` if it is missing or not executable.
    func find() throws(SpeechError) -> String {
        if program.contains("/") {
            if isProgram(program) { return program }
        } else {
            let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
            for folder in folders.split(separator: ":") {
                let path = folder + "/" + program
                if isProgram(path) { return path }
            }
        }
        let remedy = program == "espeak-ng" ? "install the package espeak-ng" : "install it, or correct its name"
        throw .unavailable("cannot find the program \(program); \(remedy)")
    }

    private func isProgram(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
