/// A running command, as its keeper process knows it. Times are nanoseconds of the monotonic clock.
package struct RunningCommand: Codable, Hashable, Sendable {
    package var pid: Int32
    /// The start time in clock ticks; together with `pid` it identifies the process.
    package var start: UInt64
    package var keeper: Int32
    /// Since when no service was connected, for a service that connects again.
    package var aloneSince: Int64?
    /// Whether the command was asked to end meanwhile.
    package var wasAskedToEnd: Bool

    /// Creates the value of a command that has just begun.
    package init(pid: Int32, start: UInt64, keeper: Int32) {
        self.pid = pid
        self.start = start
        self.keeper = keeper
        wasAskedToEnd = false
    }
}
