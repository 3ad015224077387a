import BackgrounderAPI
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization
import SystemSupport
import WebSupport

/// The HTTP connections of one attempt: a new one for each request, one at a time.
///
///     try await connection.exchange(request, with: url.origin) { head, body in
///         for try await buffer in body { … }
///     }
///
/// Their receive windows are small at first (``SocketWindow``), because bytes in flight are lost, and must be sent
/// again, when the process is killed or the connection breaks. An HTTP client library would configure a socket only
/// after it is connected, so the connections are made here.
final class TransferConnection: Sendable {
    private enum State {
        case idle
        case opening(EventLoopPromise<HTTPWire>)
        case open(any Channel)
        /// No further connection may be opened.
        case ended
    }

    private let group: any EventLoopGroup
    private let connectTime: TimeAmount
    private let expected: Int64
    private let trust: Trust
    private let state = Mutex(State.idle)
    private let scope = Mutex(AddressScope.global)

    /// - Parameters:
    ///   - executor: reads the trusted certificates from the disk.
    ///   - expected: the bytes expected at the first attempt; 0 at later ones, which call ``widen(for:)`` as they
    ///     progress.
    init(group: any EventLoopGroup, connectTime: Duration, executor: QueueExecutor, expected: Int64) {
        (self.group, self.connectTime, self.expected) = (group, TimeAmount(connectTime), expected)
        trust = Trust(executor: executor)
    }

    /// Sends a request, passes its reply to `handle`, and closes the connection. Cancellation calls ``end()``.
    ///
    /// If the server refuses the request before it has received all of `content`, the rest is not sent.
    ///
    /// - Parameter mayBeLocal: whether the server may have a local address.
    /// - Throws: ``TransferFault`` if the content cannot be read, an error of the connection, or an error of `handle`.
    func exchange<Value: Sendable>(
        _ request: HTTPRequestHead,
        with origin: WebURL.Origin,
        mayBeLocal: Bool = true,
        sending content: (any AsyncSequence<ByteBuffer, any Error> & Sendable)? = nil,
        _ handle: (HTTPResponseHead, ReplyBody) async throws -> Value
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            let wire = try await open(to: origin, mayBeLocal: mayBeLocal)
            async let sent: Void = send(request, content, on: wire)
            do {
                let head = try await wire.head()
                if content != nil, (200...299).contains(head.status.code) {
                    do {
                        try await sent
                    } catch {
                        let early = "the server answered with status \(head.status.code) before it had the whole file"
                        throw error as? TransferFault ?? .passing(early)
                    }
                }
                let value = try await handle(head, wire.body)
                close(wire)
                return value
            } catch {
                close(wire)
                // If reading the content failed, that is the actual cause.
                do { try await sent } catch let fault as TransferFault { throw fault } catch {}
                throw error
            }
        } onCancel: {
            end()
        }
    }

    /// Widens the window of the open connection to a 128th of `bytes`.
    ///
    /// `bytes` are those expected at the first attempt, and those received on this connection at later ones. The kernel
    /// accepts up to twice the window. So however many connections of a transfer break, they waste at most a 32nd of
    /// it, apart from their small initial windows.
    func widen(for bytes: Int64) {
        guard case .open(let channel) = state.withLock({ $0 }), let size = SocketWindow.size(for: bytes) else { return }
        _ = SocketWindow.set(size, of: channel)
    }

    /// Closes the connection and prevents further ones. May be called from any thread.
    func end() {
        let last = state.withLock { state in
            defer { state = .ended }
            return state
        }
        switch last {
        case .opening(let promise): promise.fail(ChannelError.alreadyClosed)
        case .open(let channel): channel.close(promise: nil)
        case .idle, .ended: break
        }
    }

    /// The scope of the address of the latest connection.
    var peer: AddressScope { scope.withLock { $0 } }

    // MARK: The wire

    /// Sends the request and its content.
    private func send(
        _ request: HTTPRequestHead,
        _ content: (any AsyncSequence<ByteBuffer, any Error> & Sendable)?,
        on wire: HTTPWire
    ) async throws {
        do {
            try await wire.send(.head(request))
            if let content {
                for try await buffer in content { try await wire.send(.body(.byteBuffer(buffer))) }
            }
            // The end adds no bytes. A server that has received everything may have answered and closed already, so
            // errors are ignored.
            try? await wire.send(.end(nil))
        } catch let fault as TransferFault {
            // The content cannot be read, so no reply will arrive.
            end()
            throw fault
        }
    }

    private func close(_ wire: HTTPWire) {
        state.withLock { if case .open = $0 { $0 = .idle } }
        wire.channel.close(promise: nil)
    }

    private func open(to origin: WebURL.Origin, mayBeLocal: Bool) async throws -> HTTPWire {
        let isSecure = origin.scheme == .https
        let tls = isSecure ? try await trust.context() : nil
        let size = SocketWindow.size(for: expected) ?? SocketWindow.narrow(isSecure: isSecure)
        let loop = group.next()
        let next = state.withLock { state -> EventLoopPromise<HTTPWire>? in
            if case .ended = state { return nil }
            let promise = loop.makePromise(of: HTTPWire.self)
            state = .opening(promise)
            return promise
        }
        guard let promise = next else { throw ChannelError.alreadyClosed }
        let host = origin.host.hasPrefix("[") ? String(origin.host.dropFirst().dropLast()) : origin.host
        // Resolving the name may take long. `end()` fails the promise, so a cancelled caller does not wait for it.
        ClientBootstrap(group: loop)
            .connectTimeout(connectTime)
            .channelInitializer { channel in
                SocketWindow.prepare(size, for: channel).flatMapThrowing {
                    if !mayBeLocal { try channel.pipeline.syncOperations.addHandler(LocalAddressGate()) }
                }
            }
            .connect(host: host, port: origin.port)
            .flatMap { channel in SocketWindow.set(size, of: channel).map { channel } }
            .flatMapThrowing { [self] channel in
                let isWanted = state.withLock { state in
                    guard case .opening = state else { return false }
                    state = .open(channel)
                    return true
                }
                guard isWanted else {
                    channel.close(promise: nil)
                    throw ChannelError.alreadyClosed
                }
                scope.withLock { $0 = channel.remoteAddress.map { AddressScope($0) } ?? .global }
                return try HTTPWire(channel, host: host, tls: tls, handshakeTime: connectTime)
            }
            .cascade(to: promise)
        return try await promise.futureResult.get()
    }
}

extension HTTPRequestHead {
    /// Creates a request with the headers that all requests have.
    ///
    /// - Parameter fields: the header fields of the credentials for this server.
    init(_ method: HTTPMethod, _ url: WebURL, _ fields: [WebCredentials.Field] = []) {
        let headers: HTTPHeaders = [
            "Host": url.authority, "User-Agent": "Backgrounder/\(Backgrounder.version)", "Connection": "close",
        ]
        self.init(version: .http1_1, method: method, uri: url.target, headers: headers)
        for field in fields { self.headers.add(name: field.name, value: field.value) }
    }
}

/// The trusted certificates of this machine.
private actor Trust {
    private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private var known: NIOSSLContext?

    init(executor: QueueExecutor) { self.executor = executor }

    /// Returns a TLS context with the certificates. The first call reads them from the disk, which takes about 50 ms.
    func context() throws -> NIOSSLContext {
        if let known { return known }
        var configuration = TLSConfiguration.client()
        configuration.applicationProtocols = ["http/1.1"]
        // Tuned: time to send the remaining data. A close_notify of the server is of no interest.
        configuration.shutdownTimeout = .seconds(1)
        let context = try NIOSSLContext(configuration: configuration)
        known = context
        return context
    }
}
