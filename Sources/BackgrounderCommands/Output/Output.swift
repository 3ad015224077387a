import ArgumentParser
import BackgrounderAPI
import Glibc
import Playlists
import SystemSupport

/// The output of a command on stdout and stderr.
enum Output {
    /// Writes `text` and a newline to stdout.
    ///
    /// - Throws: ``CommandFailure`` if the write fails; without a message if the reader of a pipe has exited, as `head`
    ///   does.
    static func print(_ text: String) throws {
        try write(text + "\n")
    }

    /// Writes `text` to stdout, without a newline.
    static func write(_ text: String) throws {
        do {
            try StandardOutput.write(text)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Writes `bytes`, which need not be valid text, to stdout.
    static func write(bytes: [UInt8]) throws {
        do {
            try StandardOutput.write(bytes: bytes)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Prints `value` as one line of JSON.
    static func json(_ value: some Encodable) throws {
        try print(try JSON.line(value).withEscapedControlCharacters)
    }

    /// Prints `items` as one line of JSON, encoding them one by one because a queue can be very long.
    static func items(_ items: [PlayerItem]) throws {
        var text = TextBuffer()
        for (index, item) in items.enumerated() {
            text.append(index == 0 ? "[" : ",")
            text.append(json: item)
        }
        text.append(items.isEmpty ? "[]" : "]")
        try print(text.string.withEscapedControlCharacters)
    }

    /// Writes one line to stderr.
    static func note(_ text: String) {
        StandardError.writeLine(text)
    }

    /// Writes a question to stderr, without a newline; the answer is typed after it.
    static func ask(_ text: String) {
        StandardError.write(text.withoutControlCharacters)
    }
}

/// The output format of a command that prints a value.
enum OutputFormat: String, FixedWord {
    case table, json
}
