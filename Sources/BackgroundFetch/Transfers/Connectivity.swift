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
        for line in lines("/proc/net/route").dropFirst() where line.count > 2 && line[1] == "00000000" {
            names.insert(String(line[0]))
        }
        let zeros = String(repeating: "0", count: 32)
        for line in lines("/proc/net/ipv6_route") where line.count > 9 && line[0] == zeros && line[1] == "00" {
            if line[9] != "lo" { names.insert(String(line[9])) }
        }
        return names.sorted()
    }

    private static func lines(_ path: String) -> [[Substring]] {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map { line in
            line.split(whereSeparator: \.isWhitespace)
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
        case is WebURLError, is RedirectError:
            self = .permanent("\(error)")
            return
        case let error as HTTPParserError where error != .invalidEOFState:
            self = .passing("what \(host) answers is no HTTP: \(error)")
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
        default: return (handshakeProblem(error).map { "TLS says \($0)" } ?? "\(error)", nil)
        }
    }
}
