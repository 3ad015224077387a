import BackgrounderAPI
import FoundationEssentials
import Glibc
import SystemSupport
import WebSupport

/// The effects of runs on the state of a source.
extension FetchSourceState {
    /// Records the start of a run.
    ///
    /// - Parameter isPlanned: whether the run counts towards the plan of the day.
    mutating func noteBegin(at date: Date, isPlanned: Bool) {
        lastBegan = date
        guard isPlanned else { return }
        automaticRuns.removeAll { date.timeIntervalSince($0) >= 86_400 }
        automaticRuns.append(date)
    }

    /// Records a successful run; the caller stores its content.
    ///
    /// - Returns: how many enclosures were skipped because too many are waiting already.
    mutating func noteSuccess(_ reply: FetchReply, _ news: FetchNews, at date: Date) -> Int {
        lastEnded = date
        failures = 0
        lastError = nil
        retryAt = nil
        isGone = false
        if news.result == .newData { updated = date }
        if let digest = news.digest { self.digest = digest }
        // New content makes the old validators invalid, even if the reply has none of its own.
        switch reply.body {
        case .content: validators = reply.validators
        case .unchanged: validators = reply.validators?.completed(by: validators) ?? validators
        }
        // An unchanged feed still asks for the same time.
        if news.digest != nil { timeToLive = news.timeToLive }
        let floor = min(max(reply.freshness ?? 0, timeToLive ?? 0), FetchLimits.longestServerWord)
        freshness = floor > 0 ? floor : nil
        serverFloor = freshness.map { date.addingTimeInterval($0) }
        var known = Set(downloads)
        let new = news.enclosures.filter { known.insert($0).inserted }
        let added = new.prefix(max(0, FetchLimits.downloadLimit - downloads.count))
        if !added.isEmpty {
            downloadScope = downloads.isEmpty || downloadScope == reply.scope ? reply.scope : .global
        }
        downloads += added
        return new.count - added.count
    }

    /// Moves recorded times after `date` back, so that times from a wrong clock do not hold the source up.
    mutating func forgetFuture(at date: Date) {
        let ahead = max(0, lastAttempt.timeIntervalSince(date))
        since = min(since, date)
        lastBegan = lastBegan.map { min($0, date) }
        lastEnded = lastEnded.map { min($0, date) }
        // Keep the remaining time of these bounds.
        let (word, backoff) = (FetchLimits.longestServerWord, FetchLimits.longestBackoff)
        serverFloor = serverFloor.map { min($0.addingTimeInterval(-ahead), date.addingTimeInterval(word)) }
        retryAt = retryAt.map { min($0.addingTimeInterval(-ahead), date.addingTimeInterval(backoff)) }
        kills.removeAll { $0 > date }
        automaticRuns.removeAll { $0 > date }
    }

    /// Records a failed run, and when to try again.
    ///
    /// - Parameter jitter: returns a random part of a delay.
    mutating func noteFailure(_ failure: FetchFailure, at date: Date, jitter: (Double) -> Double) {
        lastEnded = date
        if failure.kind != .cancelled { lastError = failure.reason }
        if let seconds = failure.retryAfter {
            serverFloor = date.addingTimeInterval(min(max(0, seconds), FetchLimits.longestServerWord))
        }
        switch failure.kind {
        case .offline, .cancelled: break
        case .gone:
            isGone = true
            failures += 1
        case .refused, .late:
            failures += 1
            let steps = Double(min(failures - 1, 20))
            let wait = min(FetchLimits.longestBackoff, FetchLimits.firstBackoff * exp2(steps))
            retryAt = date.addingTimeInterval(jitter(wait))
            if failure.kind == .late {
                kills.removeAll { date.timeIntervalSince($0) >= 2 * 86_400 }
                kills.append(date)
            }
        }
    }

    /// Records the duration of a run, and its result for the credit if it was planned.
    ///
    /// - Parameter failure: the kind of failure, if any. Runs that were cancelled or found no network are not recorded.
    mutating func note(_ run: FetchRun, _ failure: FetchFailure.Kind?, isPlanned: Bool) {
        guard let duration = run.duration, let result = run.result else { return }
        guard failure != .cancelled, failure != .offline else { return }
        durations.append(duration)
        wasKilled.append(failure == .late)
        durations = durations.suffix(FetchLimits.keptDurations)
        wasKilled = wasKilled.suffix(FetchLimits.keptDurations)
        if isPlanned { credit.record(result) }
    }
}

extension FetchRun {
    /// Ends the run with a failure.
    ///
    /// - Parameter duration: by the monotonic clock; `nil` if unknown.
    mutating func end(at date: Date, after duration: Duration?, _ failure: FetchFailure) {
        end(at: date, after: duration)
        (result, note) = (.failed, nil)
        (status, bytes, reason) = (failure.status, failure.bytes, failure.reason)
    }

    /// Ends the run with a reply.
    mutating func end(at date: Date, after duration: Duration, _ reply: FetchReply, _ news: FetchNews) {
        end(at: date, after: duration)
        (result, note) = (news.result, news.note)
        (status, bytes, reason) = (reply.status, reply.bytes, nil)
    }

    private mutating func end(at date: Date, after duration: Duration?) {
        // The clock may have been set back during the run.
        ended = max(date, began)
        self.duration = duration.map { max(0, $0.seconds) }
    }
}

extension FetchFailure {
    /// The failure of a run that ended because its source was removed.
    static var removed: FetchFailure {
        FetchFailure("the source was removed during the fetch", kind: .cancelled)
    }
}
