import BackgrounderAPI
import FoundationEssentials
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// What the kernel says of the ways out of this machine.
enum DefaultRoutes {
    /// The interfaces that lead to the rest of the world, by name; IPv4 and IPv6.
    static func interfaces() -> [String] {
        var names: Set<String> = []
        eachLine(of: "/proc/net/route") { line in
            if line.count > 2, line[1] == "00000000" { names.insert(String(line[0])) }
        }
        let zeros = String(repeating: "0", count: 32)
        eachLine(of: "/proc/net/ipv6_route") { line in
            guard line.count > 9, line[0] == zeros, line[1] == "00", line[9] != "lo" else { return }
            names.insert(String(line[9]))
        }
        return names.sorted()
    }

    /// The words of each line. Foundation reads the first page of such a file and takes it for all of it.
    private static func eachLine(of path: String, _ body: ([Substring]) -> Void) {
        guard let file = fopen(path, "re") else { return }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer {
            free(line)
            fclose(file)
        }
        while getline(&line, &capacity, file) > 0, let line {
            body(String(cString: line).split(whereSeparator: \.isWhitespace))
        }
    }
}

extension TransferFault {
    /// What became of a request or of its reply.
    init(_ error: any Error, host: String) {
        switch error {
        case let fault as TransferFault:
            self = fault
            return
        case let error as CredentialsError:
            // The file may be corrected meanwhile.
            self = .passing("\(error)")
            return
        case is WebURLError, is RedirectError:
            self = .permanent("\(error)")
            return
        case let error as NIOConnectionError where error.isLocal:
            self = .permanent(LocalAddressError.reason(host))
            return
        case let error as HTTPParserError where error != .invalidEOFState:
            self = .passing("what \(host) answers is no HTTP: \(error)")
            return
        case is NIOHTTPDecoderError:
            self = .passing("\(host) answers before it is asked")
            return
        default: break
        }
        let (reason, code) = Self.explain(error)
        let text = "no connection to \(host): \(reason)"
        switch code {
        case ENETUNREACH, ENETDOWN, EHOSTUNREACH: self = .offline(text)
        default:
            let isHere = host.hasPrefix("127.") || host == "localhost" || host == "[::1]"
            self = !isHere && DefaultRoutes.interfaces().isEmpty ? .offline(text) : .passing(text)
        }
    }

    private static func explain(_ error: any Error) -> (String, errno: Int32?) {
        switch error {
        case let error as NIOConnectionError:
            if let first = error.connectionErrors.first { return explain(first.error) }
            // A wrong name cannot be told from servers of names that are out of reach, and a transfer outlives those.
            return ("its name is not known", ENETUNREACH)
        case let error as IOError: return (systemMessage(error.errnoCode), error.errnoCode)
        case let error as ChannelError:
            if case .connectTimeout = error { return ("it does not answer", nil) }
            return ("it was closed", nil)
        case HTTPParserError.invalidEOFState, NIOSSLError.uncleanShutdown: return ("it was cut", nil)
        default: return (tlsProblem(error) ?? "\(error)", nil)
        }
    }
}

extension NIOConnectionError {
    /// Whether all addresses of the name were refused as local ones.
    fileprivate var isLocal: Bool {
        !connectionErrors.isEmpty && connectionErrors.allSatisfy { $0.error is LocalAddressError }
    }
}
