import BackgrounderAPI
import Logging
import MediaFiles
import SystemSupport

/// Items from the network: their titles, and what happens while a link is silent.
extension QueuePlayer {
    /// Tuned: long enough for a tunnel or a restart of a server, short enough not to seem broken.
    private static var streamPatience: Duration { .seconds(60) }

    /// Takes over what an item from the network told about itself.
    func describeStream(_ job: DecodingJob, _ metadata: Metadata, _ live: LiveStream?) {
        guard chain.contains(where: { $0.token == job.token }) else { return }
        news.opened(job.itemID, live)
        list.describe(id: job.itemID, with: metadata)
        list.touch(id: job.itemID)
        queueChanged()
    }

    /// Shows the title of the live stream that is heard, and what the output waits for.
    func followStream(_ snapshot: PipelineSnapshot) {
        if news.show(title: snapshot.title, of: list.currentID), snapshot.title != nil, let current = list.current {
            list.touch(id: current.id)
            writes.send(.currentItem(marked(current)))
        }
        let late = activity.isSounding ? snapshot.late : nil
        let isNew = (late == nil) != (news.waiting == nil)
        if news.show(waiting: late?.reason) { writes.send(.changed) }
        guard let late else { return patience.end() }
        if isNew, snapshot.playtime > 0, let job = chain.first(where: { $0.token == late.token }),
            news.reportSilence(of: job.itemID)
        {
            logger.notice("No sound from \(printable(job.path)): \(printable(late.reason))")
        }
        let clock = clock
        patience.begin(for: late.token) {
            Task {
                guard (try? await clock.sleep(for: Self.streamPatience)) != nil else { return }
                patience.expired(for: late.token)
                handleReports()
                skipLateStream()
                await commit()
            }
        }
    }

    /// Skips an item whose link was silent for too long, if another item can be played instead.
    func skipLateStream() {
        guard activity.isSounding, let late = pipeline.snapshot().late, patience.isOver(for: late.token),
            let index = chain.firstIndex(where: { $0.token == late.token })
        else { return }
        let job = chain[index]
        faults.skip(job.itemID, because: late.reason)
        var ahead = list
        let next = playable(index > 0 ? ahead.finishCurrent() : ahead.skipUnplayable(), in: &ahead)
        guard case .play(let id) = next, id != job.itemID else { return faults.retry(job.itemID) }
        patience.end()
        // The decoder still works on it.
        if index > 0 { _ = pipeline.withdraw(from: job.token) }
        chain.removeSubrange((index + 1)...)
        skip(job, because: "no sound for \(Int(Self.streamPatience.seconds)) s: \(late.reason)")
        plan()
    }
}

/// The wait for a link that is silent.
struct StreamPatience {
    private enum State {
        case notNeeded
        case waiting(token: Int, Task<Void, Never>)
        case over(token: Int)
    }

    private var state = State.notNeeded

    /// Has `start` start a task that waits, unless one waits for the job or has waited.
    mutating func begin(for token: Int, _ start: () -> Task<Void, Never>) {
        switch state {
        case .waiting(token, _), .over(token): return
        default:
            end()
            state = .waiting(token: token, start())
        }
    }

    mutating func expired(for token: Int) { if case .waiting(token, _) = state { state = .over(token: token) } }

    func isOver(for token: Int) -> Bool { if case .over(token) = state { true } else { false } }

    /// There is sound, or nothing waits for it.
    mutating func end() {
        if case .waiting(_, let task) = state { task.cancel() }
        state = .notNeeded
    }
}
