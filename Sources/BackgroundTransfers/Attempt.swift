import FoundationEssentials
import NIOCore
import Synchronization
import SystemSupport
import WebSupport

/// The environment of an attempt.
struct AttemptContext: Sendable {
    let configuration: TransferConfiguration
    let group: any EventLoopGroup
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    let boot: String
    /// Whether the end of the process ended the previous attempt, so that a restart is not the server's fault.
    let isExcused: Bool
    let executor: QueueExecutor
    /// Saves the transfer.
    let store: @Sendable (TransferRecord) async throws(TransferFault) -> Void
    /// Reports the number of bytes as progress.
    let show: @Sendable (Int64) async -> Void

    var limits: TransferLimits { configuration.limits }
}

extension AttemptContext {
    /// Runs `body` with the route and the connection for a transfer. A connection that makes too little progress is
    /// closed.
    ///
    /// - Parameters:
    ///   - expected: the bytes expected from the server; 0 if unknown.
    ///   - size: the size of the file in an upload.
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
        async let _: Void = connection.watch(tally, size: size, limits, clock)
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
                        ? "the whole file was sent to \(tally.host), but it does not answer"
                        : "the connection to \(tally.host) stalled"
                )
            }
            throw TransferFault(error, host: tally.host)
        }
    }
}

/// The progress of an attempt, shared with its watchdog.
final class Tally: Sendable {
    private let progress: Mutex<Progress>
    private let stalled = Mutex(false)
    private let name = Mutex("")
    /// The time since the creation of this object.
    private let elapsed: @Sendable () -> Duration

    init(_ limits: TransferLimits, _ clock: any Clock<Duration>) {
        progress = Mutex(Progress(limits))
        elapsed = clock.stopwatch()
    }

    /// The number of bytes received or sent.
    var offset: Int64 {
        get { progress.withLock { $0.offset } }
        set {
            let time = elapsed()
            progress.withLock { $0.note(newValue, at: time) }
        }
    }

    /// Whether the watchdog closed the connection.
    var isStalled: Bool {
        get { stalled.withLock { $0 } }
        set { stalled.withLock { $0 = newValue } }
    }

    /// The host of the current request, which a redirect may change.
    var host: String {
        get { name.withLock { $0 } }
        set { name.withLock { $0 = newValue } }
    }

    /// Returns how long to wait if no more bytes move.
    ///
    /// - Parameter size: the size of the file in an upload.
    func patience(size: Int64?) -> Duration {
        let time = elapsed()
        return progress.withLock { $0.deadline(size: size) } - time
    }
}

/// The bytes of an attempt over time, which tell whether its connection stalls.
///
/// A connection is given up if fewer than ``TransferLimits/stallBytes`` move within ``TransferLimits/stallTime``, at
/// the latest a twelfth of that time later.
struct Progress {
    private let limits: TransferLimits
    /// The offsets at times that are a twelfth of the stall time apart, oldest first. The last one is the current
    /// offset.
    private var marks: [(time: Duration, offset: Int64)] = [(.zero, 0)]

    init(_ limits: TransferLimits) { self.limits = limits }

    var offset: Int64 { marks.last?.offset ?? 0 }

    /// Records an offset. It may be smaller than the last one, if the file is transferred again.
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

    /// Returns when to give up the connection if no more bytes move.
    ///
    /// A server that was sent a whole file has ``TransferLimits/answerTime`` for its answer.
    func deadline(size: Int64?) -> Duration {
        guard let first = marks.first, let last = marks.last else { return .zero }
        return offset == size ? last.time + limits.answerTime : first.time + limits.stallTime
    }
}

extension TransferConnection {
    /// Ends the connection when it stalls. Returns then, or when the task is cancelled.
    ///
    /// - Parameter size: the size of the file in an upload.
    @concurrent fileprivate func watch(
        _ tally: Tally,
        size: Int64?,
        _ limits: TransferLimits,
        _ clock: any Clock<Duration>
    ) async {
        while true {
            let patience = tally.patience(size: size)
            guard patience > .zero else {
                tally.isStalled = true
                return end()
            }
            // Sleep for at most `stallTime`: after a redirect the file is sent again, and the deadline is then earlier
            // than that for an answer.
            guard (try? await clock.sleep(for: min(patience, limits.stallTime))) != nil else { return }
        }
    }
}
