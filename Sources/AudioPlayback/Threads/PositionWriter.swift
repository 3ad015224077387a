import BackgrounderAPI
import SystemSupport

/// The thread that stores the position every half second of sound, so that a restart resumes there. It also notifies
/// watchers of the time in the same wakeup.
///
/// It may wait for the disk, and nothing waits for it. While nothing is heard it sleeps until the sound resumes.
enum PositionWriter {
    /// Starts the thread. Returns false if the system has none. `onFailure` is called for the first of a series of failed
    /// writes.
    fileprivate static func start(
        _ pipeline: Pipeline,
        _ journal: any PlayerJournal,
        onFailure: @escaping @Sendable () -> Void
    ) -> Bool {
        (try? detachThread(named: "audio position") {
            var hasFailed = false
            while let work = pipeline.nextPositionWork() {
                if let position = work.position {
                    do {
                        try journal.save(position: position)
                        hasFailed = false
                    } catch {
                        if !hasFailed { onFailure() }
                        hasFailed = true
                    }
                }
                for call in work.calls { call() }
            }
        }) != nil
    }
}

extension Pipeline {
    /// Starts the position thread, unless it works. If the system has no thread, the next call retries.
    func startPositionWriterIfNeeded(_ journal: any PlayerJournal, onFailure: @escaping @Sendable () -> Void) {
        _ = startThread(.position) { _ in PositionWriter.start(self, journal, onFailure: onFailure) }
    }
}
