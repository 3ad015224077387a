import Glibc
import SystemSupport

/// A connection to the control socket, for one request (HTTP/1.1, RFC 9112).
///
/// It knows what the service sends: a reply with a length, in chunks, or without a body. General clients take longer to
/// start than the request takes; see docs/decisions/README.md.
///
/// Its calls block a thread of their own, never one of the pool. If a task is cancelled while it waits for a piece, the
/// connection ends.
actor ControlConnection {
    enum Failure: Error {
        /// connect(2) failed with this error number.
        case notConnected(Int32)
        /// The connection broke off, or the reply is not HTTP.
        case lost
        /// The reply did not arrive in time.
        case late
    }

    /// How the rest of the body is delimited (RFC 9112, 6.3).
    private enum Body {
        case length(Int)
        /// In chunks, with this many bytes left of the current one.
        case chunk(left: Int)
        case ended
    }

    /// A head or a line between chunks is not longer than this.
    private static let longestHead = 64 << 10

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private nonisolated let executor: ThreadExecutor
    private nonisolated let socket: ClientSocket
    private let deadline: MonotonicTime?
    private var received: ArraySlice<UInt8> = []
    private var body = Body.ended

    /// - Parameter patience: the time for the whole request; `nil` for no limit.
    init(patience: Duration?) throws(Failure) {
        deadline = patience.map { .now + $0 }
        do throws(SystemRefusal) {
            executor = try ThreadExecutor("connection")
        } catch {
            throw .notConnected(error.code)
        }
        socket = try ClientSocket()
    }

    /// Connects to the socket at `path`, sends `request`, and waits for the head of the reply.
    ///
    /// - Returns: The status code.
    func send(_ request: [UInt8], to path: String) throws(Failure) -> Int {
        try socket.connect(path)
        // If the service refuses a request before it has read all of it, this fails, but the reply is there.
        socket.send(request)
        let words = try line()?.split(separator: UInt8(ascii: " "), maxSplits: 2) ?? []
        guard words.count >= 2, text(words[0]) == "HTTP/1.1", let status = Int(text(words[1])) else { throw .lost }
        while true {
            guard let field = try line() else { throw .lost }
            if field.isEmpty { return status }
            guard let colon = field.firstIndex(of: UInt8(ascii: ":")) else { throw .lost }
            let value = Substring(text(field[(colon + 1)...])).trimmed
            switch text(field[..<colon]).lowercased() {
            case "content-length":
                guard let length = Int(value), length >= 0 else { throw .lost }
                body = length == 0 ? .ended : .length(length)
            case "transfer-encoding":
                guard value == "chunked" else { throw .lost }
                body = .chunk(left: 0)
            default: break
            }
        }
    }

    /// Returns the next piece of the body, or `nil` at its end.
    func next() throws(Failure) -> ArraySlice<UInt8>? {
        switch body {
        case .ended: return nil
        case .length(let left):
            let piece = try take(left)
            body = piece.count == left ? .ended : .length(left - piece.count)
            return piece
        case .chunk(left: 0):
            guard let size = try line().flatMap({ Int(text($0.prefix { $0 != UInt8(ascii: ";") }), radix: 16) }),
                size >= 0
            else { throw .lost }
            if size == 0 {
                body = .ended
                return nil
            }
            body = .chunk(left: size)
            return try next()
        case .chunk(let left):
            let piece = try take(left)
            body = .chunk(left: left - piece.count)
            // Each chunk ends with an empty line.
            if piece.count == left, try line()?.isEmpty != true { throw .lost }
            return piece
        }
    }

    /// Ends the connection, also while a call waits for it. Any thread.
    nonisolated func end() { socket.end() }

    /// Returns at least one byte and at most `most`.
    private func take(_ most: Int) throws(Failure) -> ArraySlice<UInt8> {
        if received.isEmpty, try !receive() { throw .lost }
        defer { received = received.dropFirst(most) }
        return received.prefix(most)
    }

    /// Returns the next line without its end, or `nil` at the end of the connection.
    private func line() throws(Failure) -> ArraySlice<UInt8>? {
        var searched = 0
        while true {
            if let end = received.dropFirst(searched).firstIndex(of: UInt8(ascii: "\n")) {
                defer { received = received[(end + 1)...] }
                let line = received[..<end]
                return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            }
            searched = received.count
            guard searched <= Self.longestHead else { throw .lost }
            guard try receive() else { return nil }
        }
    }

    /// Waits for more bytes and appends them to `received`.
    ///
    /// - Returns: Whether there were any before the end of the connection.
    private func receive() throws(Failure) -> Bool {
        let bytes = try socket.receive(until: deadline)
        if received.isEmpty { received = bytes[...] } else { received += bytes }
        return !bytes.isEmpty
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// A Unix socket, which is closed with the last reference to it. Calls block.
private final class ClientSocket: Sendable {
    private let descriptor: Int32

    init() throws(ControlConnection.Failure) {
        descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .notConnected(errno) }
    }

    deinit { close(descriptor) }

    func connect(_ path: String) throws(ControlConnection.Failure) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .notConnected(ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // A hanging service with a full queue of connections would delay connect(2) and send(2) forever.
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, size) }
        }
        guard result == 0 else {
            // EAGAIN: the time is over.
            if errno == EAGAIN { throw .late }
            throw .notConnected(errno)
        }
    }

    /// Sends as many of the bytes as the peer accepts.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns the bytes that arrive next; empty at the end of the connection.
    func receive(until deadline: MonotonicTime?) throws(ControlConnection.Failure) -> [UInt8] {
        while true {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let left = deadline.map { Int32(clamping: MonotonicTime.now.duration(to: $0).milliseconds + 1) }
            let count = poll(&waiting, 1, left.map { max(0, $0) } ?? -1)
            guard count != 0 else { throw .late }
            if count < 0 {
                guard errno == EINTR else { throw .lost }
                continue
            }
            let bytes = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, size in
                size = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
            }
            return bytes
        }
    }

    func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
