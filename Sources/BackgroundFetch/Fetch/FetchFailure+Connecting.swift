import AsyncHTTPClient
import BackgrounderAPI
import Glibc
import NIOCore
import NIOPosix

extension FetchFailure {
    /// Why no reply came, in words; a network that is not there is told from a server that is not.
    ///
    /// - Parameter server: its name and port.
    init(connecting error: any Error, to server: String) {
        switch error {
        case is CancellationError: self.init("it was broken off", kind: .cancelled)
        case let error as NIOConnectionError: self.init(error, server)
        case let error as IOError: self.init(error, server)
        case let error as HTTPClientError: self.init(error, server)
        default:
            self.init(
                tlsProblem(error).map { "no secure connection to \(server) comes about: \($0)" }
                    ?? "the server's answer cannot be read: \(error)"
            )
        }
    }

    private init(_ error: HTTPClientError, _ server: String) {
        switch error {
        case .cancelled: self.init("it was broken off", kind: .cancelled)
        case .connectTimeout: self.init("\(server) does not answer")
        case .remoteConnectionClosed: self.init("the server closed the connection before its answer was whole")
        default: self.init("the server's answer cannot be read: \(error.shortDescription)")
        }
    }

    private init(_ error: NIOConnectionError, _ server: String) {
        let failures = error.connectionErrors.compactMap { $0.error as? IOError }
        if let failure = failures.first(where: { !$0.isOffline }) {
            self.init(failure, server)
        } else if error.connectionErrors.isEmpty || !failures.isEmpty {
            let what =
                failures.isEmpty ? "the name \(error.host) cannot be resolved" : "there is no way to \(error.host)"
            self.init("\(what); the network may be down", kind: .offline)
        } else {
            self.init("\(server) cannot be reached")
        }
    }

    private init(_ error: IOError, _ server: String) {
        switch error.errnoCode {
        case ECONNREFUSED: self.init("nobody listens at \(server)")
        case ECONNRESET, EPIPE: self.init("the server broke the connection")
        case ETIMEDOUT: self.init("\(server) does not answer")
        case _ where error.isOffline: self.init("there is no way to \(server); the network may be down", kind: .offline)
        default: self.init("\(server) cannot be reached: \(systemMessage(error.errnoCode))")
        }
    }
}

extension IOError {
    fileprivate var isOffline: Bool { [ENETUNREACH, ENETDOWN, EHOSTUNREACH, EADDRNOTAVAIL].contains(errnoCode) }
}
