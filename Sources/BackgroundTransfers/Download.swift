import BackgrounderAPI
import FoundationEssentials
import NIOCore
import NIOHTTP1
import SystemSupport
import WebSupport

/// One attempt at a download.
///
///     let download = Download(record, context)
///     try await download.run()   // the file has its final name
///     download.record            // the state of the transfer, also after a fault
final class Download {
    private(set) var record: TransferRecord
    private let context: AttemptContext
    private let part: PartFile
    /// Whether the next restart from the first byte is not counted.
    private var isExcused: Bool
    private let tally: Tally
    /// Whether the server did not state the length, so that a lost connection looks like the end of the file.
    private var isUnsized = false

    init(_ record: TransferRecord, _ context: AttemptContext) {
        tally = Tally(context.limits, context.clock)
        (self.record, self.context, isExcused) = (record, context, context.isExcused)
        part = PartFile(record, configuration: context.configuration, executor: context.executor)
    }

    /// Downloads the file or its rest, verifies it and gives it its final name.
    ///
    /// - Throws: ``TransferFault``, or `CancellationError`.
    func run() async throws {
        // The service may have been killed after the rename.
        if record.detail.isMoving == true, let identity = record.detail.part,
            try await part.isInstalled(as: record.name, identity)
        {
            return
        }
        record.detail.isMoving = nil
        let opening = try await part.open(record, boot: context.boot)
        record.detail.part = opening.identity
        record.detail.boot = context.boot
        record.detail.connections += 1
        record.transfer.received = opening.offset
        record.detail.durable = min(record.detail.durable, opening.offset)
        record.transfer.state = .running
        tally.offset = opening.offset
        do {
            try await context.store(record)
            if opening.offset == 0 || opening.offset != record.transfer.total {
                let expected = record.detail.connections == 1 ? record.transfer.total ?? 0 : 0
                try await context.speak(to: record.detail, tally, expected: expected) { route, connection in
                    try await receive(route, connection)
                }
            }
            try await verify()
            try await install()
        } catch {
            await saveReceived()
            throw error
        }
    }

    /// Removes the part file.
    func discard() async {
        await part.discard(record.detail.part)
    }

    /// Syncs and records the bytes of an attempt that ended early.
    private func saveReceived() async {
        let offset = tally.offset
        if offset > record.detail.durable, (try? await part.sync()) != nil {
            record.detail.durable = offset
            record.transfer.attempts = 0
        }
        record.transfer.received = offset
    }

    // MARK: The wire

    /// Receives the rest of the file, or all of it.
    private func receive(_ first: WebRoute, _ connection: TransferConnection) async throws {
        var route = first
        while true {
            let url = route.url
            tally.host = url.origin.host
            if tally.offset > 0, record.detail.validator == nil, record.detail.sha256 == nil {
                try await beginAnew(because: "the server does not identify the version of the file", isCounted: true)
            }
            let offset = tally.offset
            let hop = try await connection.exchange(
                request(route, from: offset),
                with: url.origin,
                mayBeLocal: route.mayBeLocal
            ) { head, body in
                let reply = RangeReply(
                    status: head.status.code,
                    headers: head.headers,
                    offset: offset,
                    total: record.transfer.total,
                    validator: record.detail.validator,
                    now: context.now()
                )
                return try await handle(reply, body, connection)
            }
            switch hop {
            case .elsewhere(let location):
                try route.follow(location, from: connection.peer)
            case .anew: break
            case .whole: return
            }
        }
    }

    /// The next step after a reply.
    private enum Hop {
        /// Follow a redirect.
        case elsewhere(String?)
        /// Request the file again from the first byte.
        case anew
        /// The file is complete.
        case whole
    }

    private func handle(_ reply: RangeReply, _ body: ReplyBody, _ connection: TransferConnection) async throws -> Hop {
        switch reply {
        case .redirect(let location): return .elsewhere(location)
        case .stale(let reason):
            try await beginAnew(because: reason, isCounted: true)
            return .anew
        case .complete: break
        case .fault(let fault): throw fault
        case .whole(let total, let validator):
            try await beginAnew(because: "the server sends the whole file, not the rest", isCounted: tally.offset > 0)
            record.transfer.total = total
            record.detail.validator = validator
            try checkSize(total ?? 0)
            try await write(body, total: total, connection)
        case .rest(let end, let total):
            if record.detail.validator == nil { record.detail.isUncertain = true }
            record.transfer.total = total
            try checkSize(total)
            try await write(body, end: end, total: total, connection)
        }
        return .whole
    }

    private func checkSize(_ total: Int64) throws(TransferFault) {
        guard total <= record.detail.sizeLimit else {
            throw .permanent("the file has \(total) bytes, more than the limit of \(record.detail.sizeLimit)")
        }
    }

    private func request(_ route: WebRoute, from offset: Int64) -> HTTPRequestHead {
        var request = HTTPRequestHead(.GET, route.url, route.fields)
        request.headers.add(name: "Accept", value: "*/*")
        request.headers.add(name: "Accept-Encoding", value: "identity")
        if offset > 0 {
            request.headers.add(name: "Range", value: "bytes=\(offset)-")
            if let validator = record.detail.validator {
                request.headers.add(name: "If-Range", value: validator.ifRange)
            }
        }
        return request
    }

    /// Empties the part file and resets the record, which is stored before bytes of another version are written.
    ///
    /// - Parameter isCounted: whether this counts as a restart; false if no bytes are lost.
    /// - Throws: ``TransferFault/permanent(_:)`` after too many restarts.
    private func beginAnew(because reason: String, isCounted: Bool) async throws {
        if isCounted, tally.offset > 0 {
            if isExcused {
                isExcused = false
            } else {
                guard record.transfer.restarts < context.limits.restarts else {
                    throw TransferFault.permanent(
                        "restarted from the first byte \(context.limits.restarts) times: \(reason)"
                    )
                }
                record.transfer.restarts += 1
            }
        }
        try await part.reset()
        tally.offset = 0
        (record.transfer.received, record.detail.durable) = (0, 0)
        (record.transfer.total, record.detail.validator) = (nil, nil)
        record.detail.isUncertain = false
    }

    /// Writes the body of a reply to the part file.
    ///
    /// - Parameter end: the offset after the last byte of the reply; `nil` for the end of the file.
    private func write(
        _ body: ReplyBody,
        end: Int64? = nil,
        total: Int64?,
        _ connection: TransferConnection
    ) async throws {
        isUnsized = total == nil
        try await part.makeRoom(for: total)
        try await context.store(record)
        // Assume 32 MiB if the length is unknown.
        if record.detail.connections == 1 { connection.widen(for: total ?? 32 << 20) }
        let start = tally.offset
        var widens: Int64 = 2 << 20
        let bound = end ?? total ?? record.detail.sizeLimit
        var synced = ContinuousClock.now
        var shown: ContinuousClock.Instant?
        for try await buffer in body {
            guard tally.offset + Int64(buffer.readableBytes) <= bound else {
                guard total != nil else {
                    throw TransferFault.permanent("the file has more bytes than the limit of \(bound)")
                }
                try await beginAnew(because: "the server sends more bytes than it announced", isCounted: true)
                throw TransferFault.passing("the server sends more bytes than it announced")
            }
            let offset = try await part.write(buffer)
            tally.offset = offset
            if record.detail.connections > 1, offset - start >= widens {
                connection.widen(for: offset - start)
                widens *= 2
            }
            let now = ContinuousClock.now
            if offset - record.detail.durable >= context.limits.syncBytes || now - synced >= context.limits.syncTime {
                synced = now
                try await checkpoint(offset)
            }
            if shown.map({ now - $0 >= .milliseconds(250) }) ?? true {
                shown = now
                await context.show(offset)
            }
        }
        if let total, tally.offset < total {
            throw TransferFault.passing("the connection ended before the file was complete")
        }
        record.transfer.total = tally.offset
    }

    /// Syncs the part file, then saves the record.
    private func checkpoint(_ offset: Int64) async throws {
        try await part.sync()
        record.detail.durable = offset
        record.transfer.received = offset
        record.transfer.attempts = 0
        try await context.store(record)
    }

    // MARK: The end

    /// Syncs the part file and checks its SHA-256, if one was given.
    private func verify() async throws {
        record.transfer.state = .verifying
        try await checkpoint(tally.offset)
        guard let expected = record.detail.sha256 else { return }
        let digest = try await part.digest()
        guard digest != expected else { return }
        if isUnsized, record.detail.cuts ?? 0 < context.limits.cuts {
            record.detail.cuts = (record.detail.cuts ?? 0) + 1
            record.transfer.total = nil
            throw TransferFault.passing("the SHA-256 does not match; the file may be incomplete")
        }
        guard record.detail.isUncertain else {
            throw TransferFault.permanent("the SHA-256 of the file is \(digest), not the expected one")
        }
        try await beginAnew(because: "the file has changed", isCounted: true)
        throw TransferFault.passing("the file changed between attempts")
    }

    /// Gives the file its final name.
    ///
    /// The name is saved first, so that after a crash a file of that name is recognised as this one.
    private func install() async throws {
        let wanted = record.transfer.destination
        for number in 0..<1000 {
            if number > 0 { record.transfer.destination = Self.numbered(wanted, number) }
            record.transfer.state = .moving
            record.detail.isMoving = true
            try await context.store(record)
            if try await part.install(as: record.name, overwrites: record.detail.exists == .overwrite) { return }
            guard record.detail.exists == .rename else { break }
        }
        record.transfer.destination = wanted
        throw TransferFault.permanent("\(wanted) already exists; use --exists overwrite or --exists rename")
    }

    /// Returns `path` with a number before its extension: `name (1).txt` for `name.txt`.
    static func numbered(_ path: String, _ number: Int) -> String {
        let (folder, name) = splitPath(path)
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else {
            return "\(path) (\(number))"
        }
        return "\(folder)/\(name[..<dot]) (\(number))\(name[dot...])"
    }
}
