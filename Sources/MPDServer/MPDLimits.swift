/// What a client may take.
package struct MPDLimits: Sendable {
    /// All of the server; one more is closed at once, as MPD does.
    package var connections = 100
    /// Bytes of a line with its newline: MPD's buffer.
    package var line = 8192
    /// Bytes of a command list, MPD's default.
    package var commandList = 2 << 20
    /// Bytes that a line of a command list counts as at least: what a text takes of memory, also an empty one.
    static let smallestLine = MemoryLayout<String>.size
    /// judgement: after so long without reading anything of an answer a client is closed
    package var stall = Duration.seconds(20)
    /// After so long without a line a client that does not idle is closed, so that it takes no seat for ever: MPD's default.
    package var silence = Duration.seconds(60)

    /// Tuned: how long the answer to a wrong password takes, and how often one of a peer is judged while it guesses; a person
    /// who mistypes hardly notices.
    package var passwordDelay = Duration.seconds(1)
    /// Tuned: wrong passwords after which a connection is closed.
    package var wrongPasswords = 5
    /// Tuned: the longest that a password waits for its turn; further ones are refused without being judged.
    package var passwordWait = Duration.seconds(5)
    /// Tuned: wrong passwords are one line of the log in this time.
    package var passwordReport = Duration.seconds(60)

    package init() {}
}
