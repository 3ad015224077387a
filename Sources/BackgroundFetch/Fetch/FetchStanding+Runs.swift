import BackgrounderAPI
import FoundationEssentials
import Glibc

/// How runs change where a source stands.
extension FetchStanding {
    /// - Parameter isPlanned: whether it is one of those that a plan counts.
    mutating func noteBegin(at date: Date, isPlanned: Bool) {
        lastBegan = date
        guard isPlanned else { return }
        automaticRuns.removeAll { date.timeIntervalSince($0) >= 86_400 }
        automaticRuns.append(date)
    }

    /// What came counts as kept from now on.
    ///
    /// - Returns: how many enclosures are left out, as too many wait already.
    mutating func take(_ reply: FetchReply, _ news: FetchNews, at date: Date) -> Int {
        lastEnded = date
        failures = 0
        retryAt = nil
        isGone = false
        if news.result == .newData { updated = date }
        if let digest = news.digest { self.digest = digest }
        // Of a reply without any, as of a changed one, the old ones say nothing.
        switch reply.body {
        case .content: validators = reply.validators
        case .unchanged: validators = reply.validators?.completed(by: validators) ?? validators
        }
        // A feed that did not change asks for the same as before.
        if news.digest != nil { timeToLive = news.timeToLive }
        let floor = min(max(reply.freshness ?? 0, timeToLive ?? 0), FetchJudgement.longestServerWord)
        freshness = floor > 0 ? floor : nil
        serverFloor = freshness.map { date.addingTimeInterval($0) }
        var known = Set(downloads)
        let new = news.enclosures.filter { known.insert($0).inserted }
        let taken = new.prefix(max(0, FetchJudgement.downloadLimit - downloads.count))
        if !taken.isEmpty {
            downloadScope = downloads.isEmpty || downloadScope == reply.scope ? reply.scope : .global
        }
        downloads += taken
        return new.count - taken.count
    }

    /// Takes back what a clock that was wrong noted as later than `date`: nothing waits for a time that never was near.
    mutating func forgetFuture(at date: Date) {
        let ahead = max(0, lastAttempt.timeIntervalSince(date))
        since = min(since, date)
        lastBegan = lastBegan.map { min($0, date) }
        lastEnded = lastEnded.map { min($0, date) }
        // What was left of these then is left of them now.
        let (word, backoff) = (FetchJudgement.longestServerWord, FetchJudgement.longestBackoff)
        serverFloor = serverFloor.map { min($0.addingTimeInterval(-ahead), date.addingTimeInterval(word)) }
        retryAt = retryAt.map { min($0.addingTimeInterval(-ahead), date.addingTimeInterval(backoff)) }
        kills.removeAll { $0 > date }
        automaticRuns.removeAll { $0 > date }
    }

    mutating func take(_ failure: FetchFailure, at date: Date, jitter: (Double) -> Double) {
        lastEnded = date
        if let seconds = failure.retryAfter {
            serverFloor = date.addingTimeInterval(min(max(0, seconds), FetchJudgement.longestServerWord))
        }
        switch failure.kind {
        case .offline, .cancelled: break
        case .gone:
            isGone = true
            failures += 1
        case .refused, .late:
            failures += 1
            let steps = Double(min(failures - 1, 20))
            let wait = min(FetchJudgement.longestBackoff, FetchJudgement.firstBackoff * exp2(steps))
            retryAt = date.addingTimeInterval(jitter(wait))
            if failure.kind == .late {
                kills.removeAll { date.timeIntervalSince($0) >= 2 * 86_400 }
                kills.append(date)
            }
        }
    }

    /// What a run tells about those to come.
    ///
    /// - Parameter failure: of one that failed. One that was broken off or found no network says nothing of what one takes.
    mutating func note(_ run: FetchRun, _ failure: FetchFailure.Kind?, isPlanned: Bool) {
        guard let duration = run.duration, let result = run.result else { return }
        guard failure != .cancelled, failure != .offline else { return }
        durations.append(duration)
        wasKilled.append(failure == .late)
        durations = durations.suffix(FetchJudgement.keptDurations)
        wasKilled = wasKilled.suffix(FetchJudgement.keptDurations)
        if isPlanned { credit.record(result) }
    }
}

extension FetchRun {
    /// - Parameter duration: by the monotonic clock; `nil` where nobody knows.
    mutating func end(at date: Date, after duration: Duration?, _ failure: FetchFailure) {
        end(at: date, after: duration)
        (result, note) = (.failed, nil)
        (status, bytes, reason) = (failure.status, failure.bytes, failure.reason)
    }

    mutating func end(at date: Date, after duration: Duration, _ reply: FetchReply, _ news: FetchNews) {
        end(at: date, after: duration)
        (result, note) = (news.result, news.note)
        (status, bytes, reason) = (reply.status, reply.bytes, nil)
    }

    private mutating func end(at date: Date, after duration: Duration?) {
        // The clock may have been set back meanwhile.
        ended = max(date, began)
        self.duration = duration.map { max(0, $0.seconds) }
    }
}

extension FetchFailure {
    static var removed: FetchFailure {
        FetchFailure("the source was removed in the middle of it", kind: .cancelled)
    }
}
