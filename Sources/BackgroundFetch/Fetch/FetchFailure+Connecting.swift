import AsyncHTTPClient
import Glibc
import NIOCore
import NIOPosix
import SystemSupport
import WebSupport

extension FetchFailure {
    /// Creates the failure for an error of the connection. Its kind is `offline` if the network seems to be down.
    ///
    /// - Parameter server: the host and port of the server.
    init(connecting error: any Error, to server: String) {
        switch error {
        case is CancellationError: self.init("the fetch was cancelled", kind: .cancelled)
        case let error as NIOConnectionError: self.init(error, server)
        case let error as IOError: self.init(error, server)
        case let error as HTTPClientError: self.init(error, server)
        default:
            self.init(
                tlsProblem(error).map { "cannot establish TLS with \(server): \($0)" }
                    ?? "cannot read the reply from \(server): \(error)"
            )
        }
    }

    private init(_ error: HTTPClientError, _ server: String) {
        switch error {
        case .cancelled: self.init("the fetch was cancelled", kind: .cancelled)
        case .connectTimeout: self.init("the connection to \(server) timed out")
        case .remoteConnectionClosed: self.init("the server closed the connection before the reply was complete")
        default: self.init("cannot read the reply from \(server): \(error.shortDescription)")
        }
    }

    private init(_ error: NIOConnectionError, _ server: String) {
        let failures = error.connectionErrors.compactMap { $0.error as? IOError }
        if let failure = failures.first(where: { !$0.isOffline }) {
            self.init(failure, server)
        } else if error.connectionErrors.isEmpty || !failures.isEmpty {
            let what =
                failures.isEmpty ? "the name \(error.host) cannot be resolved" : "no route to \(error.host)"
            self.init("\(what); the network may be down", kind: .offline)
        } else {
            self.init("cannot connect to \(server)")
        }
    }

    private init(_ error: IOError, _ server: String) {
        switch error.errnoCode {
        case ECONNREFUSED: self.init("cannot connect to \(server): connection refused")
        case ECONNRESET, EPIPE: self.init("the server reset the connection")
        case ETIMEDOUT: self.init("the connection to \(server) timed out")
        case _ where error.isOffline: self.init("no route to \(server); the network may be down", kind: .offline)
        default: self.init("the connection to \(server) failed: \(systemMessage(error.errnoCode))")
        }
    }
}

extension IOError {
    /// Whether the error suggests that this machine has no network.
    fileprivate var isOffline: Bool { [ENETUNREACH, ENETDOWN, EHOSTUNREACH, EADDRNOTAVAIL].contains(errnoCode) }
}
