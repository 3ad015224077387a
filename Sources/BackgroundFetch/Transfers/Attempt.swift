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
    private let bytes = Mutex(Int64(0))
    private let stalled = Mutex(false)
    private let name = Mutex("")

    var offset: Int64 {
        get { bytes.withLock { $0 } }
        set { bytes.withLock { $0 = newValue } }
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
}

extension TransferConnection {
    /// Closes itself when too little moves.
    ///
    /// - Parameter size: of the file that goes. A server to which all of it was handed over has its time for the answer.
    fileprivate func watch(
        _ tally: Tally,
        size: Int64?,
        _ limits: TransferLimits,
        _ clock: any Clock<Duration>
    ) -> Task<Void, Never> {
        let start = tally.offset
        return Task { @concurrent in
            var before = start
            var stillness = Duration.zero
            while (try? await clock.sleep(for: limits.stallTime)) != nil {
                let offset = tally.offset
                // After a redirect it goes once more, from the first byte on.
                let isHandedOver = offset == size || before == size
                let isStill = isHandedOver ? offset == before : abs(offset - before) < limits.stallBytes
                stillness = isStill ? stillness + limits.stallTime : .zero
                guard stillness < (isHandedOver ? limits.answerTime : limits.stallTime) else {
                    tally.isStalled = true
                    return self.end()
                }
                before = offset
            }
        }
    }
}
