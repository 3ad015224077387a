package import Foundation
import Synchronization

/// An HTTP/1.1 server on a local port with a script for each path, which may break any rule.
///
///     let server = try TestWebServer()
///     server.reply(to: "/feed", headers: ["ETag": "\"1\""], body: "…")
///     server.on("/cut") { request, connection in
///         try connection.sendHead(200, ["Content-Length": "1000"])
///         try connection.send([UInt8](repeating: 7, count: 400))
///         connection.reset()
///     }
///     … server.url("/feed") …
///     #expect(server.requests(to: "/feed").count == 1)
///
/// Each connection has a thread that scripts may block. The server ends when the last reference is released.
package final class TestWebServer: Sendable {
    package typealias Script = @Sendable (TestWebRequest, TestWebConnection) throws -> Void

    fileprivate struct State {
        var scripts: [String: Script] = [:]
        var early: Set<String> = []
        var requests: [TestWebRequest] = []
        var connections: [Int32] = []
        var isEnded = false
    }

    package let port: Int
    private let listener: Int32
    private let shared: Shared

    fileprivate final class Shared: Sendable {
        let state = Mutex(State())
        let signal = Signal()
    }

    /// - Parameters:
    ///   - port: The port to listen on, or 0 for a free one.
    ///   - sendBuffer: The size of the kernel's send buffer. A small one makes ``TestWebConnection/sent`` meaningful.
    ///   - segment: The maximum size of a TCP segment. On the loopback interface segments have up to 64 KiB.
    package init(port: Int = 0, sendBuffer: Int32? = nil, segment: Int32? = nil) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemCallFailure("socket") }
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, 4)
        // Accepted connections inherit these options.
        if var size = sendBuffer { setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, 4) }
        if var segment { setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_MAXSEG, &segment, 4) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 128) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isListening else {
            let failure = SystemCallFailure("bind")
            close(descriptor)
            throw failure
        }
        (self.port, listener) = (Int(address.sin_port.bigEndian), descriptor)
        let shared = Shared()
        self.shared = shared
        Thread.detachNewThread { Self.accept(descriptor, shared) }
    }

    deinit { end() }

    /// Closes the port and all connections.
    package func end() {
        let isFirst = shared.state.withLock { state in
            defer { state.isEnded = true }
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
            return !state.isEnded
        }
        // The accepting thread closes it.
        if isFirst { shutdown(listener, Int32(SHUT_RDWR)) }
    }

    /// Returns once all connections have ended.
    package func waitForEnd(within seconds: Double = 60) async throws {
        _ = try await shared.signal.wait(for: "the end of all connections", within: seconds) {
            shared.state.withLock { $0.connections.isEmpty } ? true : nil
        }
    }

    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Runs `script` for each request to `path`, which has no query; `*` stands for all other paths.
    package func on(_ path: String, _ script: @escaping Script) {
        shared.state.withLock { $0.scripts[path] = script }
    }

    /// Runs `script` for each request to `path` once its head has arrived; the body is not read.
    package func onHead(of path: String, _ script: @escaping Script) {
        shared.state.withLock { state in
            state.early.insert(path)
            state.scripts[path] = script
        }
    }

    /// Sends the same reply to each request to `path`.
    package func reply(to path: String, _ status: Int = 200, headers: [String: String] = [:], body: String = "") {
        on(path) { _, connection in try connection.reply(status, headers, Array(body.utf8)) }
    }

    /// Returns the requests so far, oldest first: all, or those to `path`.
    package func requests(to path: String? = nil) -> [TestWebRequest] {
        shared.state.withLock { state in
            path.map { path in state.requests.filter { $0.path == path } } ?? state.requests
        }
    }

    /// Returns the requests once there are `count` of them.
    @discardableResult
    package func wait(
        forRequests count: Int,
        to path: String? = nil,
        within seconds: Double = 60
    ) async throws -> [TestWebRequest] {
        try await shared.signal.wait(for: "\(count) requests to \(path ?? "any path")", within: seconds) {
            let requests = requests(to: path)
            return requests.count >= count ? requests : nil
        }
    }

    private static func accept(_ listener: Int32, _ shared: Shared) {
        defer { close(listener) }
        while true {
            let connection = Glibc.accept(listener, nil, nil)
            if connection < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                return
            }
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            var on: Int32 = 1
            setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
            let isTaken = shared.state.withLock { state in
                if !state.isEnded { state.connections.append(connection) }
                return !state.isEnded
            }
            guard isTaken else {
                close(connection)
                continue
            }
            Thread.detachNewThread {
                serve(TestWebConnection(connection), shared)
                shared.state.withLock { $0.connections.removeAll { $0 == connection } }
                close(connection)
                shared.signal.post()
            }
        }
    }

    private static func serve(_ connection: TestWebConnection, _ shared: Shared) {
        while let request = connection.readRequest(isEarly: { path in
            shared.state.withLock { $0.early.contains(path) }
        }) {
            let script = shared.state.withLock { state in
                state.requests.append(request)
                return state.scripts[request.path] ?? state.scripts["*"]
            }
            shared.signal.post()
            do {
                guard let script else {
                    try connection.reply(404)
                    continue
                }
                try script(request, connection)
            } catch {
                return
            }
            if connection.isOver { return }
        }
    }
}

/// A received request.
package struct TestWebRequest: Sendable {
    package var method: String
    /// The path as sent, without the query.
    package var path: String
    /// The query without its question mark; empty if there is none.
    package var query: String
    /// Names in lower case.
    package var headers: [String: String]
    package var body: [UInt8]
    package var at: Date

    /// The first byte of `Range: bytes=N-` or `N-M`; 0 without a range.
    package var rangeStart: Int {
        guard let range = headers["range"], range.hasPrefix("bytes=") else { return 0 }
        return Int(range.dropFirst("bytes=".count).prefix { $0 != "-" }) ?? 0
    }
}

/// The server's side of a connection, for scripts. Its methods block, and throw if the peer is gone.
package final class TestWebConnection {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// Whether no further request is read.
    package fileprivate(set) var isOver = false
    /// Bytes of bodies that were written, without headers.
    package private(set) var sent = 0

    fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Sends a complete reply with its length.
    package func reply(_ status: Int, _ headers: [String: String] = [:], _ body: [UInt8] = []) throws {
        try sendHead(status, ["Content-Length": "\(body.count)"].merging(headers) { $1 })
        try send(body)
    }

    package func sendHead(_ status: Int, _ headers: [String: String]) throws {
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        try write(Array("HTTP/1.1 \(status) Status\r\n\(lines)\r\n".utf8))
    }

    package func send(_ body: some Collection<UInt8>) throws {
        try write(Array(body)) { sent += $0 }
    }

    /// Sends framing between the bytes of a body, which does not count as ``sent``.
    package func sendFrame(_ text: String) throws { try write(Array(text.utf8)) }

    /// Sends a body at a rate, in small pieces, so that little is sent to a peer that is gone.
    package func send(_ body: some Collection<UInt8>, bytesPerSecond rate: Int) throws {
        let piece = max(1, min(4096, rate / 100))
        let interval = Double(piece) / Double(rate)
        var rest = body[...]
        var next = DispatchTime.now()
        while !rest.isEmpty {
            try send(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            next = next + interval
            let left = (Double(next.uptimeNanoseconds) - Double(DispatchTime.now().uptimeNanoseconds)) / 1e6
            if left >= 1 { wait(milliseconds: Int(left)) }
        }
    }

    /// Waits until the peer closes, the server ends or the time is over.
    package func wait(milliseconds: Int) {
        // 0x2000 is POLLRDHUP, which is not visible in Swift.
        var waiting = pollfd(fd: descriptor, events: 0x2000, revents: 0)
        _ = poll(&waiting, 1, Int32(milliseconds))
    }

    /// Ends the connection gracefully.
    package func close() {
        isOver = true
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Resets the connection, as a crash does.
    package func reset() {
        isOver = true
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }

    /// Bytes that were written, including headers.
    package private(set) var written = 0

    /// The ``written`` bytes that the peer's kernel has acknowledged. Others may never have been sent.
    package var acknowledged: Int {
        // tcpi_bytes_acked of tcp_info, which is not visible in Swift. It includes one byte for the SYN.
        var information = [UInt64](repeating: 0, count: 32)
        var length = socklen_t(256)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), 11, &information, &length) == 0, length >= 128 else {
            return written
        }
        return Int(clamping: information[15])
    }

    private func write(_ bytes: [UInt8], _ wrote: (Int) -> Void = { _ in }) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemCallFailure("send") }
            wrote(count)
            written += count
            rest = rest.dropFirst(count)
        }
    }

    fileprivate func readRequest(isEarly: (_ path: String) -> Bool) -> TestWebRequest? {
        var end: Range<Int>?
        while true {
            end = buffer.firstRange(of: Array("\r\n\r\n".utf8))
            if end != nil { break }
            guard buffer.count < 1 << 16, more() else { return nil }
        }
        guard let end else { return nil }
        let lines = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        buffer.removeFirst(end.upperBound)
        let words = lines[0].split(separator: " ")
        guard words.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces
            )
        }
        let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var body: [UInt8] = []
        if isEarly(String(target[0])) {
            isOver = true
        } else if let length = headers["content-length"].flatMap({ Int($0) }) {
            while buffer.count < length { guard more() else { return nil } }
            body = Array(buffer.prefix(length))
            buffer.removeFirst(length)
        } else if headers["transfer-encoding"] != nil {
            // The beginning of the next request is unknown.
            isOver = true
        }
        return TestWebRequest(
            method: String(words[0]),
            path: String(target[0]),
            query: target.count > 1 ? String(target[1]) : "",
            headers: headers,
            body: body,
            at: Date()
        )
    }

    private func more() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            buffer += bytes[..<count]
            return true
        }
    }
}
