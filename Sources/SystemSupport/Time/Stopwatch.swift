extension Clock where Duration == Swift.Duration {
    /// Returns a function that returns the time since this call.
    package func stopwatch() -> @Sendable () -> Duration {
        let began = now
        return { began.duration(to: now) }
    }
}
