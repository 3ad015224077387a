import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SystemSupport
import WebSupport

extension TransferFault {
    /// Creates the fault for an error of a request or its reply.
    ///
    /// - Parameter host: the host of the request.
    init(_ error: any Error, host: String) {
        switch error {
        case let fault as TransferFault:
            self = fault
            return
        case let error as CredentialsError:
            // The file may be corrected before the next attempt.
            self = .passing("\(error)")
            return
        case is WebURLError, is RedirectError:
            self = .permanent("\(error)")
            return
        case let error as NIOConnectionError where error.isLocal:
            self = .permanent(LocalAddressError.reason(host))
            return
        case let error as HTTPParserError where error != .invalidEOFState:
            self = .passing("the reply from \(host) is not valid HTTP: \(error)")
            return
        case is NIOHTTPDecoderError:
            self = .passing("\(host) replied before the request was sent")
            return
        default: break
        }
        let (reason, code) = Self.explain(error)
        let text = "the connection to \(host) failed: \(reason)"
        switch code {
        case ENETUNREACH, ENETDOWN, EHOSTUNREACH: self = .offline(text)
        default:
            let isHere = host.hasPrefix("127.") || host == "localhost" || host == "[::1]"
            self = !isHere && DefaultRoutes().interfaces.isEmpty ? .offline(text) : .passing(text)
        }
    }

    /// Returns the reason of an error in words, and its `errno`.
    private static func explain(_ error: any Error) -> (String, errno: Int32?) {
        switch error {
        case let error as NIOConnectionError:
            if let first = error.connectionErrors.first { return explain(first.error) }
            // A wrong name cannot be distinguished from unreachable name servers, which a transfer should outlive.
            return ("the name cannot be resolved", ENETUNREACH)
        case let error as IOError: return (systemMessage(error.errnoCode), error.errnoCode)
        case let error as ChannelError:
            if case .connectTimeout = error { return ("the server does not answer", nil) }
            return ("it was closed", nil)
        case HTTPParserError.invalidEOFState, NIOSSLError.uncleanShutdown: return ("it was cut off", nil)
        default: return (tlsProblem(error) ?? "\(error)", nil)
        }
    }
}

extension NIOConnectionError {
    /// Whether all addresses of the name were refused because they are local.
    fileprivate var isLocal: Bool {
        !connectionErrors.isEmpty && connectionErrors.allSatisfy { $0.error is LocalAddressError }
    }
}
