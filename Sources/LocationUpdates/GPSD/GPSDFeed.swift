import SystemSupport

/// Reads a gpsd without a manager and delivers its messages unfiltered, for `track replay`.
///
///     let feed = try GPSDFeed(address, recorder: nil)
///     for await items in feed.batches { ...; feed.acknowledge() }
package final class GPSDFeed: Sendable {
    /// The messages, until ``stop()``. The single reader must acknowledge each batch, because the source is at most a few ahead.
    package let batches: AsyncStream<[SourceItem]>
    private let mailbox: AsyncStream<[SourceItem]>.Continuation
    private let control: SourceControl

    /// Starts reading on a thread of its own.
    ///
    /// - Throws: ``SourceRefused`` if the system refuses a thread or a descriptor.
    package init(_ address: GPSDAddress, recorder: GPSDRecorder?) throws(SourceRefused) {
        let (batches, mailbox) = AsyncStream.makeStream(of: [SourceItem].self)
        (self.batches, self.mailbox) = (batches, mailbox)
        do throws(SystemRefusal) {
            let control = try SourceControl(run: 0) { mailbox.yield($0.items) }
            self.control = control
            try detachThread(named: "gpsd") { GPSDSource(address: address, control: control, recorder: recorder).run() }
        } catch {
            throw SourceRefused(address: address, reason: systemMessage(error.code))
        }
    }

    deinit { stop() }

    /// Acknowledges a batch. Any thread.
    package func acknowledge() { control.acknowledge() }

    /// Stops reading; batches that are already queued are still delivered. Any thread.
    package func stop() {
        control.stop()
        mailbox.finish()
    }
}

/// The error for a source that cannot be read because the system refuses a thread or a descriptor.
package struct SourceRefused: Error, Hashable, Sendable, CustomStringConvertible {
    package var address: GPSDAddress
    package var reason: String
    package var description: String { "cannot read \(address): \(reason)" }
}
