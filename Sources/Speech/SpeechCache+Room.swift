import Logging
import SystemSupport

/// The size limit of the cache, and pauses after failures.
extension SpeechCache {
    /// Removes the least recently used files, so that `size` more bytes fit.
    ///
    /// - Parameter isWaitedFor: whether a caller waits for the file. For others, no prepared text is removed.
    /// - Returns: whether the file is to be kept. If not, there is no room for the other prepared texts either, and
    ///   they are dropped.
    func makeRoom(for size: Int, isWaitedFor: Bool) -> Bool {
        let excess = index.excess(over: limit - size, keeping: isWaitedFor ? [] : wanted)
        if excess.isEnough || isWaitedFor {
            remove(excess.names)
            return true
        }
        let count = prepared.count + 1
        logger.warning("The speech cache is full: \(count) texts are not rendered ahead; raise its limit")
        prepared = []
        return false
    }

    func remove(_ names: [String]) {
        for name in names {
            folder.remove(name)
            index.remove(name)
        }
    }

    /// Logs the first failure, and begins a pause after several in a row.
    func noteFailure(_ error: SpeechError) {
        switch error {
        case .late, .text, .cancelled: return
        case .failed(let reason), .unavailable(let reason):
            failures += 1
            if failures == 1 {
                logger.warning("Cannot render speech: \(reason)")
            } else {
                logger.debug("Cannot render speech: \(reason)")
            }
        }
        // Callers that fail during a pause do not extend it.
        guard failures >= SpeechLimits.failures, pause.map({ $0.end <= .now }) ?? true else { return }
        pause = (.now + .seconds(retryDelay.next()), error)
    }

    /// Ends the pause, and logs that rendering works if it did not before.
    func noteSuccess() {
        if failures > 0 { logger.info("Rendering speech works again") }
        failures = 0
        retryDelay.reset()
        guard pause != nil else { return }
        pause = nil
        retry?.cancel()
        retry = nil
        start(.ahead)
    }
}
