import BackgrounderAPI
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// The connections of one attempt, one for each request, and one at a time.
///
///     try await connection.exchange(request, with: url.origin) { head, body in
///         for try await buffer in body { … }
///     }
///
/// They are narrow at first (``SocketWindow``): what is on its way here when this process is killed, or the connection breaks, must
/// come again. So they are made here, and not by a client that gives its sockets away when they are connected.
final class TransferConnection: Sendable {
    private enum State {
        case idle
        case opening(EventLoopPromise<HTTPWire>)
        case open(any Channel)
        case ended
    }

    private let group: any EventLoopGroup
    private let connectTime: TimeAmount
    private let expected: Int64
    private let trust: Trust
    private let state = Mutex(State.idle)
    private let scope = Mutex(AddressScope.global)

    /// - Parameters:
    ///   - executor: where what TLS needs is read.
    ///   - expected: bytes that may come at the first attempt; 0 at later ones, which ``widen(for:)`` as they get on.
    init(group: any EventLoopGroup, connectTime: Duration, executor: DiskExecutor, expected: Int64) {
        (self.group, self.connectTime, self.expected) = (group, TimeAmount(connectTime), expected)
        trust = Trust(executor: executor)
    }

    /// Sends a request, hands its reply to `take`, and closes the connection.
    ///
    /// A refusal may come before all of `content` went; then the rest does not go.
    ///
    /// - Parameter mayBeLocal: whether the server may have a local address.
    func exchange<Value: Sendable>(
        _ request: HTTPRequestHead,
        with origin: WebURL.Origin,
        mayBeLocal: Bool = true,
        sending content: (any AsyncSequence<ByteBuffer, any Error> & Sendable)? = nil,
        _ take: (HTTPResponseHead, ReplyBody) async throws -> Value
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
                        let early = "the server answers \(head.status.code) before it has all of the file"
                        throw error as? TransferFault ?? .passing(early)
                    }
                }
                let value = try await take(head, wire.body)
                close(wire)
                return value
            } catch {
                close(wire)
                // Where the content could not be read, that is why.
                do { try await sent } catch let fault as TransferFault { throw fault } catch {}
                throw error
            }
        } onCancel: {
            end()
        }
    }

    /// Lets a 128th of `bytes` be on its way: of those that are to come at the first attempt, and of those that this connection brought.
    /// The kernel takes up to twice that; so all the connections of a transfer, however many break, cost a 32nd of it at most beside
    /// their narrow beginnings.
    func widen(for bytes: Int64) {
        guard case .open(let channel) = state.withLock({ $0 }), let size = SocketWindow.size(for: bytes) else { return }
        _ = SocketWindow.set(size, of: channel)
    }

    /// Breaks off what is under way, and lets nothing begin.
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

    /// The scope of the address that answered last.
    var peer: AddressScope { scope.withLock { $0 } }

    // MARK: The wire

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
            // Not a byte: a server that has all may have answered, and closed, by now.
            try? await wire.send(.end(nil))
        } catch let fault as TransferFault {
            // The content cannot be read: no reply will come.
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
        // A name may take long to be found: whoever breaks it off does not wait for that.
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
    /// What every request says.
    ///
    /// - Parameter fields: of the credentials for this address.
    init(_ method: HTTPMethod, _ url: WebURL, _ fields: [WebCredentials.Field] = []) {
        let headers: HTTPHeaders = [
            "Host": url.authority, "User-Agent": "Backgrounder/\(Backgrounder.version)", "Connection": "close",
        ]
        self.init(version: .http1_1, method: method, uri: url.target, headers: headers)
        for field in fields { self.headers.add(name: field.name, value: field.value) }
    }
}

/// Whom this machine trusts.
private actor Trust {
    private let executor: DiskExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private var known: NIOSSLContext?

    init(executor: DiskExecutor) { self.executor = executor }

    /// Reads the certificates of this machine, which takes some 50 ms, once.
    func context() throws -> NIOSSLContext {
        if let known { return known }
        var configuration = TLSConfiguration.client()
        configuration.applicationProtocols = ["http/1.1"]
        // judgement: for what is still to be sent, and for a last word of the server, which nobody reads
        configuration.shutdownTimeout = .seconds(1)
        let context = try NIOSSLContext(configuration: configuration)
        known = context
        return context
    }
}
