/// Decides when an output that failed is tried again, and on which devices.
///
/// It is not part of the player's ``Activity``: an announcement needs the output even while the music is stopped or paused, so an
/// outage can occur in each activity.
struct OutageRecovery {
    /// The time from the loss, hang or failed opening of a device until it takes samples again.
    private struct Outage {
        var reason: String
        var attempts = 0
        var delay = Duration.milliseconds(250)
        /// The wait for the next attempt.
        var retry: Task<Void, Never>?
    }

    /// Tuned: the longest time between two attempts; sound returns soon after its device does.
    private static let longestDelay = Duration.seconds(4)
    /// Tuned: attempts to reopen a lost device before `auto` continues in silence; long enough to restart a sound server.
    private static let attemptsBeforeFallback = 4
    /// Tuned: hanging threads after which `auto` continues in silence, while there is still room for others.
    private static let stuckThreadsBeforeFallback = 2

    private var outage: Outage?
    /// A device has made sound: from then on the player waits for a lost one instead of playing in silence.
    private var hadSound = false
    private(set) var lastDevice: OpenDevice?
    /// The number of outages so far.
    private(set) var interruptions = 0

    var isWaiting: Bool { outage != nil }
    /// The failed attempts of an outage so far.
    var attempts: Int { outage?.attempts ?? 0 }
    /// Why the output failed last, during an outage.
    var reason: String? { outage?.reason }

    /// Notes the device that is open. Returns false if it is the same as before.
    mutating func noteOpened(_ device: OpenDevice) -> Bool {
        guard device != lastDevice else { return false }
        lastDevice = device
        if device.kind == .live { hadSound = true }
        return true
    }

    /// Begins an outage, or counts another attempt of it. Returns whether it is a new one.
    mutating func fail(_ reason: String) -> Bool {
        let isNew = outage == nil
        if isNew { interruptions += 1 }
        var outage = outage ?? Outage(reason: reason)
        outage.reason = reason
        outage.attempts += 1
        self.outage = outage
        return isNew
    }

    /// Has `start` start a task that retries after the delay that it is passed, instead of an earlier one.
    mutating func startRetry(_ start: (Duration) -> Task<Void, Never>) {
        guard let delay = outage?.delay else { return }
        outage?.retry?.cancel()
        outage?.retry = start(delay)
        outage?.delay = min(delay * 2, Self.longestDelay)
    }

    mutating func cancelRetry() { outage?.retry?.cancel() }

    /// Ends an outage: the output is back, or nothing needs it.
    mutating func end() {
        cancelRetry()
        outage = nil
    }

    /// Returns the devices to try next: only audible ones if there was sound before. While a thread hangs in a server that
    /// never made sound, that server is not tried again.
    func reach(stuckThreads: Int) -> DeviceReach {
        if hadSound { return .live }
        guard isWaiting else { return stuckThreads > 0 ? .fallback : .any }
        if stuckThreads >= Self.stuckThreadsBeforeFallback { return .fallback }
        return attempts >= Self.attemptsBeforeFallback ? .any : .live
    }
}
