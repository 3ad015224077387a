import BackgrounderAPI
import CLinux
import FoundationEssentials
import Glibc
import NIOCore
import NIOHTTP1
import SystemSupport
import WebSupport

/// One attempt at an upload: the whole file in one `PUT`.
final class Upload {
    private(set) var record: TransferRecord
    private let context: AttemptContext
    private let tally: Tally

    init(_ record: TransferRecord, _ context: AttemptContext) {
        tally = Tally(context.limits, context.clock)
        (self.record, self.context) = (record, context)
        self.record.transfer.received = 0
    }

    /// Sends the file.
    ///
    /// - Throws: ``TransferFault``, or `CancellationError`.
    func run() async throws {
        let file = SentFile(executor: context.executor)
        let version: FileVersion
        do {
            version = try await file.open(record.transfer.destination)
        } catch {
            throw TransferFault.permanent("\(error)")
        }
        guard version == record.detail.source else { throw Self.changed }
        record.detail.connections += 1
        record.transfer.state = .running
        try await context.store(record)
        try await context.speak(to: record.detail, tally, size: version.size) { first, connection in
            var route = first
            while case .elsewhere(let location) = try await send(file, version, along: route, connection) {
                try route.follow(location, from: connection.peer)
            }
        }
        // If the file changed, the server may have received a mix of two versions.
        guard try await file.version() == version else { throw Self.changed }
        record.transfer.received = version.size
    }

    /// The server's answer to a request.
    private enum Answer {
        case accepted
        case elsewhere(String?)
    }

    private func send(
        _ file: SentFile,
        _ version: FileVersion,
        along route: WebRoute,
        _ connection: TransferConnection
    ) async throws -> Answer {
        let url = route.url
        tally.host = url.origin.host
        var request = HTTPRequestHead(.PUT, url, route.fields)
        request.headers.add(name: "Content-Type", value: "application/octet-stream")
        request.headers.add(name: "Content-Length", value: "\(version.size)")
        if let key = record.detail.idempotencyKey { request.headers.add(name: "Idempotency-Key", value: "\"\(key)\"") }
        let content = SentBytes(file: file, size: version.size, tally: tally, show: context.show)
        tally.offset = 0
        return try await connection.exchange(
            request,
            with: url.origin,
            mayBeLocal: route.mayBeLocal,
            sending: content
        ) { [context] head, _ in
            switch head.status.code {
            case 200...299: return .accepted
            case 307, 308: return .elsewhere(head.headers.first(name: "Location"))
            case 408, 425, 429, 500...599:
                let after = head.headers.first(name: "Retry-After").flatMap {
                    RetryAfter.duration($0, now: context.now())
                }
                throw TransferFault.passing("the server answered with status \(head.status.code)", after: after)
            default: throw TransferFault.permanent("the server answered with status \(head.status.code)")
            }
        }
    }

    private static let changed = TransferFault.permanent("the file has changed since the transfer was added")
}

/// The file of an upload. Its work runs on `executor`, which may block.
actor SentFile {
    private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private var file: Int32 = -1
    private var path = ""

    init(executor: QueueExecutor) { self.executor = executor }

    deinit { if file >= 0 { close(file) } }

    /// Opens the regular file at `path` and returns its version.
    func open(_ path: String) throws(TransferError) -> FileVersion {
        self.path = path
        file = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw errno == ENOENT ? .noSuchFile(path) : .notAFile(path) }
        var attributes = stat()
        guard fstat(file, &attributes) == 0, attributes.isRegularFile else { throw .notAFile(path) }
        return FileVersion(attributes)
    }

    /// Returns the current version of the open file; `nil` if its path now names another file or none.
    func version() throws -> FileVersion? {
        var attributes = stat()
        guard fstat(file, &attributes) == 0 else { return nil }
        var named = stat()
        guard stat(path, &named) == 0, FileIdentity(named) == FileIdentity(attributes) else { return nil }
        return FileVersion(attributes)
    }

    /// Reads up to `count` bytes.
    ///
    /// - Throws: ``TransferFault/permanent(_:)`` at the end of the file or after a read error.
    func read(at offset: Int64, _ count: Int) throws(TransferFault) -> ByteBuffer {
        var buffer = ByteBuffer()
        let read = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
            max(0, pread(file, bytes.baseAddress, min(count, bytes.count), off_t(offset)))
        }
        guard read > 0 else { throw .permanent("the file was truncated during the upload or cannot be read") }
        return buffer
    }
}

/// The bytes of a file, read on demand.
private struct SentBytes: AsyncSequence, Sendable {
    let file: SentFile
    let size: Int64
    let tally: Tally
    let show: @Sendable (Int64) async -> Void

    struct Iterator: AsyncIteratorProtocol {
        let bytes: SentBytes
        var offset: Int64 = 0
        var shown: ContinuousClock.Instant?

        mutating func next() async throws -> ByteBuffer? {
            guard offset < bytes.size else { return nil }
            let buffer = try await bytes.file.read(at: offset, Int(Swift.min(64 << 10, bytes.size - offset)))
            offset += Int64(buffer.readableBytes)
            bytes.tally.offset = offset
            let now = ContinuousClock.now
            if shown.map({ now - $0 >= .milliseconds(250) }) ?? true {
                shown = now
                await bytes.show(offset)
            }
            return buffer
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(bytes: self) }
}
