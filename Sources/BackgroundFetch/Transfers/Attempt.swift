import FoundationEssentials
import NIOCore
import Synchronization

/// What an attempt needs beside its transfer.
struct AttemptContext: Sendable {
    let configuration: TransferConfiguration
    let group: any EventLoopGroup
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    let boot: String
    /// Whether the attempt before this one was ended by the end of this process, for which no server is to blame.
    let isExcused: Bool
    let executor: DiskExecutor
    /// Keeps the transfer as it is now.
    let store: @Sendable (TransferRecord) async throws(TransferFault) -> Void
    /// Shows how many bytes there are.
    let show: @Sendable (Int64) async -> Void

    var limits: TransferLimits { configuration.limits }
}

extension AttemptContext {
    /// Speaks to the servers of a transfer, by connections that are given up when too little moves.
    ///
    /// - Parameters:
    ///   - expected: bytes that may come.
    ///   - size: of the file that goes.
    /// - Throws: ``TransferFault``, or `CancellationError`.
    func speak(
        to detail: TransferDetail,
        _ tally: Tally,
        expected: Int64 = 0,
        size: Int64? = nil,
        _ body: (WebRoute, TransferConnection) async throws -> Void
    ) async throws {
        let connection = TransferConnection(
            group: group,
            connectTime: limits.connect,
            executor: executor,
            expected: expected
        )
        let watchdog = connection.watch(tally, size: size, limits, clock)
        defer { watchdog.cancel() }
        do {
            let url = try WebURL(detail.url)
            tally.host = url.origin.host
            let credentials: WebCredentials? =
                if let path = detail.credentials { try await .read(path) } else { nil }
            try await body(
                WebRoute(to: url, configuration.policy, credentials, namedBy: detail.namer ?? .user),
                connection
            )
        } catch {
            if Task.isCancelled { throw CancellationError() }
            if tally.isStalled {
                throw TransferFault.passing(
                    tally.offset == size
                        ? "\(tally.host) was sent all of the file and does not answer"
                        : "the connection to \(tally.host) stalls"
                )
            }
            throw TransferFault(error, host: tally.host)
        }
    }
}

/// How far an attempt is, for whoever watches it.
final class Tally: Sendable {
    private let progress: Mutex<Progress>
    private let stalled = Mutex(false)
    private let name = Mutex("")
    /// Since it was made.
    private let elapsed: @Sendable () -> Duration

    init(_ limits: TransferLimits, _ clock: any Clock<Duration>) {
        progress = Mutex(Progress(limits))
        elapsed = clock.stopwatch()
    }

    var offset: Int64 {
        get { progress.withLock { $0.offset } }
        set {
            let time = elapsed()
            progress.withLock { $0.note(newValue, at: time) }
        }
    }

    var isStalled: Bool {
        get { stalled.withLock { $0 } }
        set { stalled.withLock { $0 = newValue } }
    }

    /// Who is asked now: redirects lead elsewhere.
    var host: String {
        get { name.withLock { $0 } }
        set { name.withLock { $0 = newValue } }
    }

    /// How long to wait from now on if nothing more moves.
    ///
    /// - Parameter size: of the file that goes.
    func patience(size: Int64?) -> Duration {
        let time = elapsed()
        return progress.withLock { $0.deadline(size: size) } - time
    }
}

/// The bytes of an attempt over time, and when they are too few.
///
/// A connection is given up when less than ``TransferLimits/stallBytes`` moved within ``TransferLimits/stallTime``, a twelfth of that
/// time later at most.
struct Progress {
    private let limits: TransferLimits
    /// When which byte was reached, a twelfth of the stall time apart, oldest first; the last one is where it is now.
    private var marks: [(time: Duration, offset: Int64)] = [(.zero, 0)]

    init(_ limits: TransferLimits) { self.limits = limits }

    var offset: Int64 { marks.last?.offset ?? 0 }

    /// - Parameter offset: an earlier one where the file begins again.
    mutating func note(_ offset: Int64, at time: Duration) {
        guard offset != self.offset else { return }
        if offset < self.offset { marks = [] }
        if marks.count > 1, marks[marks.count - 1].time - marks[marks.count - 2].time < limits.stallTime / 12 {
            marks.removeLast()
        }
        marks.append((time, offset))
        let firstNeeded = marks.firstIndex { offset - $0.offset < limits.stallBytes } ?? 0
        marks.removeFirst(firstNeeded)
    }

    /// When to give the connection up if nothing more moves. A server that was handed all of a file has its time for the answer.
    func deadline(size: Int64?) -> Duration {
        guard let first = marks.first, let last = marks.last else { return .zero }
        return offset == size ? last.time + limits.answerTime : first.time + limits.stallTime
    }
}

extension Clock where Duration == Swift.Duration {
    /// A function that returns the time since it was made.
    func stopwatch() -> @Sendable () -> Duration {
        let began = now
        return { began.duration(to: now) }
    }
}

extension TransferConnection {
    /// Closes itself when too little moves.
    ///
    /// - Parameter size: of the file that goes.
    fileprivate func watch(
        _ tally: Tally,
        size: Int64?,
        _ limits: TransferLimits,
        _ clock: any Clock<Duration>
    ) -> Task<Void, Never> {
        Task { @concurrent in
            while true {
                let patience = tally.patience(size: size)
                guard patience > .zero else {
                    tally.isStalled = true
                    return self.end()
                }
                // After a redirect a file goes again, and has less time then than an answer.
                guard (try? await clock.sleep(for: min(patience, limits.stallTime))) != nil else { return }
            }
        }
    }
}
