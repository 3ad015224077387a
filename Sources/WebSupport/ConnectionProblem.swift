import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import SystemSupport

/// Why a connection to a server failed or ended early, in one line.
package struct ConnectionProblem: Error, Hashable, Sendable {
    /// The kind of a problem, which decides about the next attempt.
    package enum Kind: Hashable, Sendable {
        /// The caller cancelled the request.
        case cancelled
        /// The network seems to be down.
        case offline
        /// TLS refused the server's certificate, or another part of its handshake.
        case insecure
        /// The server cannot be reached.
        case unreachable
        /// The connection broke, or the server closed it.
        case broken
        /// The reply is not valid HTTP.
        case invalid
    }

    package let kind: Kind
    package let reason: String

    /// Creates the problem for an error of the HTTP client.
    ///
    /// - Parameter server: the host and port of the server.
    package init(_ error: any Error, to server: String) {
        switch error {
        case is CancellationError: self.init(kind: .cancelled, reason: "the request was cancelled")
        case let error as NIOConnectionError: self.init(error, server)
        case let error as IOError: self.init(error, server)
        case let error as HTTPClientError: self.init(error, server)
        case HTTPParserError.invalidEOFState:
            self.init(
                kind: .broken,
                reason: "the server closed the connection before the reply was complete"
            )
        default:
            if let problem = tlsProblem(error) {
                self.init(kind: .insecure, reason: "cannot establish TLS with \(server): \(problem)")
            } else {
                self.init(kind: .invalid, reason: "cannot read the reply from \(server): \(error)")
            }
        }
    }

    private init(kind: Kind, reason: String) { (self.kind, self.reason) = (kind, reason) }

    private init(_ error: HTTPClientError, _ server: String) {
        switch error {
        case .cancelled: self.init(kind: .cancelled, reason: "the request was cancelled")
        case .connectTimeout: self.init(kind: .unreachable, reason: "the connection to \(server) timed out")
        case .remoteConnectionClosed:
            self.init(kind: .broken, reason: "the server closed the connection before the reply was complete")
        default: self.init(kind: .invalid, reason: "cannot read the reply from \(server): \(error.shortDescription)")
        }
    }

    private init(_ error: NIOConnectionError, _ server: String) {
        let failures = error.connectionErrors.compactMap { $0.error as? IOError }
        if let failure = failures.first(where: { !$0.isOffline }) {
            self.init(failure, server)
        } else if error.connectionErrors.isEmpty || !failures.isEmpty {
            let what =
                failures.isEmpty ? "the name \(error.host) cannot be resolved" : "no route to \(error.host)"
            self.init(kind: .offline, reason: "\(what); the network may be down")
        } else {
            self.init(kind: .unreachable, reason: "cannot connect to \(server)")
        }
    }

    private init(_ error: IOError, _ server: String) {
        switch error.errnoCode {
        case ECONNREFUSED: self.init(kind: .unreachable, reason: "cannot connect to \(server): connection refused")
        case ECONNRESET, EPIPE: self.init(kind: .broken, reason: "the server reset the connection")
        case ETIMEDOUT: self.init(kind: .unreachable, reason: "the connection to \(server) timed out")
        case _ where error.isOffline:
            self.init(kind: .offline, reason: "no route to \(server); the network may be down")
        default:
            self.init(kind: .broken, reason: "the connection to \(server) failed: \(systemMessage(error.errnoCode))")
        }
    }
}

extension IOError {
    /// Whether the error suggests that this machine has no network.
    fileprivate var isOffline: Bool { [ENETUNREACH, ENETDOWN, EHOSTUNREACH, EADDRNOTAVAIL].contains(errnoCode) }
}
