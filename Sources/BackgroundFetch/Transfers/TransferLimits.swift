/// The numbers of transfers that are judgement, not law; tests have others.
package struct TransferLimits: Hashable, Sendable {
    /// judgement: more share one line and finish later
    package var running = 3
    /// judgement: what servers are used to
    package var runningPerHost = 2
    /// judgement: more are a loop in a script
    package var open = 10_000
    /// Attempts without a new byte.
    package var attempts = 10
    /// Beginnings at the first byte that the server made necessary.
    package var restarts = 10
    /// Tuned: retries of a file of unknown length that ends without its digest; more cuts in a row are a wrong digest.
    package var cuts = 3
    package var firstRetry = Duration.seconds(1)
    package var retryMaximum = Duration.seconds(600)
    /// URLSession's timeoutIntervalForResource.
    package var lifetime = Duration.seconds(7 * 86_400)
    package var connect = Duration.seconds(10)
    /// A connection that brings less than ``stallBytes`` in this time is given up, a twelfth of it later at most.
    package var stallTime = Duration.seconds(60)
    package var stallBytes: Int64 = 60_000
    /// judgement: a server that has a whole file may check it and move it before it answers
    package var answerTime = Duration.seconds(600)
    /// What is not on the disk yet is synced when it is this much,
    package var syncBytes: Int64 = 8 << 20
    /// or this old.
    package var syncTime = Duration.seconds(5)
    /// How long until a full disk is looked at again, and what else has no event for its end.
    package var lookAgain = Duration.seconds(600)
    /// judgement: a burst of work is over then; a machine that is always busy must get its files too
    package var busyTime = Duration.seconds(15)
    /// How often a busy machine holds a transfer back.
    package var busyLooks = 2
    /// Of a file without another limit.
    package var size: Int64 = 8 << 30
    /// Space that stays free, at most; on small disks it is a twentieth.
    package var reserve: Int64 = 256 << 20

    package init() {}
}

/// What the owner of the machine says of transfers.
package struct TransferConfiguration: Sendable {
    /// Absolute paths of the folders beneath which files may come to be.
    package var roots: [String]
    /// Whether also a file that is sent must be beneath one of them.
    package var sendsOnlyFromRoots: Bool
    /// Whom may be spoken to without encryption.
    package var policy: RedirectPolicy
    package var limits: TransferLimits

    package init(
        roots: [String],
        sendsOnlyFromRoots: Bool = false,
        policy: RedirectPolicy,
        limits: TransferLimits = TransferLimits()
    ) {
        (self.roots, self.sendsOnlyFromRoots, self.policy, self.limits) = (roots, sendsOnlyFromRoots, policy, limits)
    }
}
