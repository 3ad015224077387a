import Foundation

/// A minimal HTTP/1.1 client over a ``StreamSocket``, which shows exactly what a server sends.
package final class HTTPConnection {
    package let socket: StreamSocket
    private let defaults: [String: String]
    private var buffer: [UInt8] = []

    /// Connects to the Unix socket at `path`.
    package init(_ path: String) throws {
        socket = try StreamSocket(path)
        defaults = ["host": "backgrounder"]
    }

    /// Connects to a TCP port of this machine.
    ///
    /// - Parameter token: the token of a session of the page.
    package init(port: Int, token: String? = nil) throws {
        socket = try StreamSocket(port: port)
        defaults = ["host": "127.0.0.1:\(port)"].merging(token.map { ["authorization": "Bearer \($0)"] } ?? [:]) { $1 }
    }

    /// Sends a request and reads its response; the connection stays open.
    package func send(
        _ method: String,
        _ target: String,
        body: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> HTTPReply {
        try await begin(method, target, body: body, headers: headers)
        return try await reply(hasBody: method != "HEAD")
    }

    /// Sends a request without waiting for the response.
    ///
    /// - Parameter headers: Headers that are added to the default ones or replace them.
    package func begin(
        _ method: String,
        _ target: String,
        body: String? = nil,
        headers: [String: String] = [:]
    ) async throws {
        var all = defaults
        if let body { all.merge(["content-length": "\(body.utf8.count)", "content-type": "application/json"]) { $1 } }
        all.merge(headers) { $1 }
        let lines = all.map { "\($0): \($1)\r\n" }.joined()
        try await socket.send("\(method) \(target) HTTP/1.1\r\n\(lines)\r\n\(body ?? "")")
    }

    /// Returns the next complete response.
    package func reply(hasBody: Bool = true) async throws -> HTTPReply {
        var reply = try await head()
        guard hasBody, reply.status != 204 else { return reply }
        if let length = reply.headers["content-length"].flatMap({ Int($0) }) {
            while buffer.count < length { try await more() }
            reply.body = take(length)
        } else if reply.headers["transfer-encoding"] == "chunked" {
            while let chunk = try await chunk() { reply.body += chunk }
        }
        return reply
    }

    /// Returns the status line and the headers of the next response.
    package func head() async throws -> HTTPReply {
        while true {
            if let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) {
                let text = String(decoding: take(end.upperBound), as: UTF8.self)
                return try HTTPReply(head: text)
            }
            try await more()
        }
    }

    /// Returns the next chunk of a streamed body, or `nil` at its end.
    package func chunk() async throws -> [UInt8]? {
        while true {
            if let end = buffer.firstRange(of: Array("\r\n".utf8)) {
                let text = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
                guard let size = Int(text, radix: 16) else { throw HTTPReply.Malformed(text: text) }
                while buffer.count < end.upperBound + size + 2 { try await more() }
                _ = take(end.upperBound)
                let content = take(size)
                _ = take(2)
                return size == 0 ? nil : content
            }
            try await more()
        }
    }

    private func more() async throws {
        let bytes = try await socket.receive()
        guard !bytes.isEmpty else { throw HTTPReply.Closed() }
        buffer += bytes
    }

    private func take(_ count: Int) -> [UInt8] {
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }
}

/// A received response.
package struct HTTPReply: Sendable {
    package var status: Int
    /// Names in lower case.
    package var headers: [String: String]
    package var body: [UInt8] = []

    package var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON.
    package func json() throws -> JSONValue {
        try JSONValue(parsing: body)
    }

    package init(status: Int, headers: [String: String], body: [UInt8]) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    fileprivate init(head: String) throws {
        let lines = head.components(separatedBy: "\r\n")
        let parts = lines[0].split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0] == "HTTP/1.1", let status = Int(parts[1]) else {
            throw Malformed(text: lines[0])
        }
        self.status = status
        headers = [:]
        for line in lines.dropFirst() where !line.isEmpty {
            guard let colon = line.firstIndex(of: ":") else { throw Malformed(text: line) }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            headers[line[..<colon].lowercased()] = value
        }
    }

    /// The peer closed before the response was complete.
    package struct Closed: Error {}

    /// The response is not valid HTTP.
    package struct Malformed: Error {
        package var text: String
    }
}
