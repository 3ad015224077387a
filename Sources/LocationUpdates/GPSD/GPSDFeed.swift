import BackgrounderAPI

/// Reads a gpsd without a manager: what comes is handed out as it is, for `track replay`.
///
///     let feed = try GPSDFeed(address, recorder: nil)
///     for await items in feed.batches { ...; feed.acknowledge() }
package final class GPSDFeed: Sendable {
    /// Ends after ``stop()``; for one reader, who acknowledges each batch, since the source is never more than some ahead.
    package let batches: AsyncStream<[SourceItem]>
    private let mailbox: AsyncStream<[SourceItem]>.Continuation
    private let control: SourceControl

    /// Begins to read on a thread of its own. Throws where the system refuses one.
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

    /// Says that a batch was taken.
    package func acknowledge() { control.acknowledge() }

    /// Ends the reading; what is not handed out yet still comes. Any thread.
    package func stop() {
        control.stop()
        mailbox.finish()
    }
}

/// A source that cannot be read for want of a thread or a descriptor.
package struct SourceRefused: Error, Hashable, Sendable, CustomStringConvertible {
    package var address: GPSDAddress
    package var reason: String
    package var description: String { "cannot read \(address): \(reason)" }
}
