package import WebSupport

/// Opens the sound of http and https addresses.
package struct WebStreams: Sendable {
    let clients: WebClients
    let policy: RedirectPolicy
    let clock: any Clock<Duration>
    let limits: Limits

    /// How long a stream waits for its server.
    package struct Limits: Sendable {
        /// Tuned: a server has this long to begin its reply, which some stations do slowly.
        package var reply = Duration.seconds(30)
        /// Tuned: a link without data for longer counts as broken; the buffers hold about as much sound.
        package var stall = Duration.seconds(15)
        /// Tuned: the pause before the next attempt, which doubles with each one.
        package var firstPause = Duration.seconds(1)
        /// Tuned: a server that comes back is noticed soon.
        package var longestPause = Duration.seconds(30)

        /// Creates the limits of the service.
        package init() {}
    }

    /// Creates an opener.
    ///
    /// - Parameters:
    ///   - policy: the servers that may be contacted; sound may use http on all of them.
    ///   - clock: used for waits only.
    package init(clients: WebClients, policy: RedirectPolicy, clock: any Clock<Duration>, limits: Limits = Limits()) {
        (self.clients, self.policy, self.clock, self.limits) = (clients, policy.forSound(), clock, limits)
    }

    /// Starts to read `address`.
    ///
    /// - Parameter onChange: called on any thread when ``WebStream/waitReason`` has changed.
    func open(_ address: String, onChange: @escaping @Sendable () -> Void) -> WebStream {
        let stream = WebStream(address, self, onChange: onChange)
        stream.start()
        return stream
    }
}
