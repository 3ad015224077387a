/// The limits for clients.
package struct MPDLimits: Sendable {
    /// The most connections of the server. As in MPD, further ones are closed immediately.
    package var connections = 100
    /// The most bytes of a line, including its newline: the size of MPD's buffer.
    package var line = 8192
    /// The most bytes of a command list: MPD's default.
    package var commandList = 2 << 20
    /// The least bytes that a line of a command list counts as: the memory that even an empty text takes.
    static let smallestLine = MemoryLayout<String>.size
    /// The time after which a client that reads nothing of an answer is disconnected. Tuned: bounds the time that a
    /// stalled client holds a connection slot.
    package var stall = Duration.seconds(20)
    /// The time after which a client that sends nothing, and is not in `idle`, is disconnected, so that it does not
    /// hold a connection slot forever: MPD's default.
    package var silence = Duration.seconds(60)

    /// The delay of the answer to a wrong password, and the interval at which the passwords of a guessing peer are
    /// judged. Tuned: a user who mistypes hardly notices.
    package var passwordDelay = Duration.seconds(1)
    /// The number of wrong passwords after which a connection is closed. Tuned: room for a user's typing errors.
    package var wrongPasswords = 5
    /// The longest time that a password waits for its turn. Tuned: bounds the waiting connections; further passwords
    /// are rejected without being judged.
    package var passwordWait = Duration.seconds(5)
    /// The interval between log lines about wrong passwords. Tuned: an attack does not fill the log.
    package var passwordReport = Duration.seconds(60)

    /// Creates the default limits.
    package init() {}
}
