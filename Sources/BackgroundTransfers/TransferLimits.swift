package import WebSupport

/// The limits and times of transfers. Tests use other values.
package struct TransferLimits: Hashable, Sendable {
    /// Running transfers. Tuned: more would share the same line and finish later.
    package var running = 3
    /// Running transfers for each host. Tuned: as many as servers commonly expect from a client.
    package var runningPerHost = 2
    /// Open transfers. Tuned: more are probably a loop in a script.
    package var open = 10_000
    /// Attempts in a row without a new byte, after which the transfer fails.
    package var attempts = 10
    /// Restarts from the first byte that the server causes, after which the transfer fails.
    package var restarts = 10
    /// Retries of a file of unknown length whose digest does not match, because it may have been truncated. Tuned:
    /// after more, the digest is taken to be wrong.
    package var cuts = 3
    /// The maximum delay after the first failed attempt; it doubles with each further one.
    package var firstRetry = Duration.seconds(1)
    /// The maximum delay between attempts.
    package var retryMaximum = Duration.seconds(600)
    /// How long a transfer may take; the default of `timeoutIntervalForResource` in URLSession.
    package var lifetime = Duration.seconds(7 * 86_400)
    /// The timeout for connecting, and for the TLS handshake.
    package var connect = Duration.seconds(10)
    /// A connection that moves fewer than ``stallBytes`` in this time is given up, at the latest a twelfth of it later.
    package var stallTime = Duration.seconds(60)
    package var stallBytes: Int64 = 60_000
    /// How long a server may take to answer after it was sent a whole file. Tuned: it may check and move the file
    /// first.
    package var answerTime = Duration.seconds(600)
    /// The part file is synced when it has this many unsynced bytes, …
    package var syncBytes: Int64 = 8 << 20
    /// … or when this time has passed since the last sync.
    package var syncTime = Duration.seconds(5)
    /// How long to wait before checking a full disk again, or another condition whose end causes no event.
    package var lookAgain = Duration.seconds(600)
    /// How long a busy machine holds a discretionary transfer back. Tuned: most bursts of work have ended by then.
    package var busyTime = Duration.seconds(15)
    /// How often it does so. Tuned: a machine that is always busy must get its files too.
    package var busyLooks = 2
    /// Bytes of a file for which the request sets no limit.
    package var size: Int64 = 8 << 30
    /// Bytes to keep free on the disk; at most a twentieth of the disk.
    package var reserve: Int64 = 256 << 20

    /// Creates the limits of the service.
    package init() {}
}

/// The user's configuration of transfers.
package struct TransferConfiguration: Sendable {
    /// Absolute paths of the folders in which downloads may create files, also in subfolders.
    package var roots: [String]
    /// Whether uploads too must be of files in these folders.
    package var sendsOnlyFromRoots: Bool
    /// The servers that transfers may contact.
    package var policy: RedirectPolicy
    package var limits: TransferLimits

    /// Creates a configuration.
    package init(
        roots: [String],
        sendsOnlyFromRoots: Bool = false,
        policy: RedirectPolicy,
        limits: TransferLimits = TransferLimits()
    ) {
        (self.roots, self.sendsOnlyFromRoots, self.policy, self.limits) = (roots, sendsOnlyFromRoots, policy, limits)
    }
}
