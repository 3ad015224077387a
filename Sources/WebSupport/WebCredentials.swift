import FoundationEssentials
import SystemSupport

/// The header fields that authenticate the service to a web server, read from a file that only its owner may read.
///
///     # Either user and password, or a token.
///     user = ann
///     password = secret
///     header = X-Client: bus 12
///
/// Each line is `KEY = VALUE`; white space around both is ignored, and so are empty lines and lines that begin with
/// `#`. `user` and `password` are sent as Basic (RFC 7617), `bearer` as Bearer (RFC 6750). `header` adds a header field
/// and may be repeated.
package struct WebCredentials: Hashable, Sendable {
    /// An HTTP header field.
    package struct Field: Hashable, Sendable {
        package var name: String
        package var value: String
    }

    private enum Key: String, CaseIterable {
        case user, password, bearer, header
    }

    /// Bytes of the file. Tuned: room for several tokens, but the wrong file is not read to its end.
    private static let sizeLimit = 16_384
    /// Header fields that the service sets itself, or that frame a message.
    private static let reserved: Set = [
        "accept", "accept-encoding", "connection", "content-length", "content-type", "expect", "host",
        "idempotency-key",
        "if-modified-since", "if-none-match", "if-range", "keep-alive", "range", "te", "trailer", "transfer-encoding",
        "upgrade", "user-agent",
    ]

    /// The header fields: `Authorization` from `user` or `bearer` first, then the others in the order of the file.
    package private(set) var fields: [Field] = []

    /// Reads the file at `path`. Blocks on disk I/O.
    package init(path: String) throws(CredentialsError) {
        guard let text = try SecretFile.text(at: path, limit: Self.sizeLimit) else {
            throw .line(path, 1, "the file must be UTF-8 text of at most \(Self.sizeLimit) bytes")
        }
        var user: String?
        var password: String?
        var bearer: String?
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        var last = 1
        for (index, line) in lines.enumerated() {
            let line = line.trimmed
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            last = index + 1
            do throws(Fault) {
                let (key, value) = try Self.entry(line)
                switch key {
                case .user: try Self.set(&user, value, key) { !$0.isEmpty && !$0.contains(":") }
                case .password: try Self.set(&password, value, key) { _ in true }
                case .bearer:
                    try Self.set(&bearer, value, key) { !$0.isEmpty && $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
                case .header: fields.append(try Self.field(value))
                }
            } catch {
                throw .line(path, last, error.reason)
            }
        }
        let isNamed = fields.contains { $0.name.lowercased() == "authorization" }
        let authorization: String?
        switch (user, password, bearer) {
        case (nil, nil, nil): authorization = nil
        case (nil, nil, let token?): authorization = "Bearer \(token)"
        case (let user?, let password, nil):
            authorization = "Basic " + Data("\(user):\(password ?? "")".utf8).base64EncodedString()
        case (nil, _?, _): throw .line(path, last, "password is set, but user is not")
        case (_?, _, _?): throw .line(path, last, "user and bearer are both set; use one of them")
        }
        if let authorization {
            guard !isNamed else { throw .line(path, last, "Authorization is set twice") }
            fields.insert(Field(name: "Authorization", value: authorization), at: 0)
        }
        guard !fields.isEmpty else { throw .line(path, last, "no credentials found; set user, bearer or header") }
    }

    /// Reads the file at `path` on the queue for credentials.
    package static func read(_ path: String) async throws(CredentialsError) -> WebCredentials {
        try await QueueExecutor.credentials.run { () throws(CredentialsError) in try WebCredentials(path: path) }
    }

    // MARK: Lines

    /// An error in a line. The reason never contains the line's value.
    private struct Fault: Error {
        var reason: String
    }

    private static func entry(_ line: Substring) throws(Fault) -> (Key, Substring) {
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let keys = Key.allCases.map(\.rawValue).joined(separator: ", ")
        guard parts.count == 2, let key = Key(rawValue: String(parts[0].trimmed)) else {
            throw Fault(reason: "not a KEY = VALUE line; the keys are \(keys)")
        }
        let value = parts[1].trimmed
        guard value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" }) else {
            throw Fault(reason: "the value of \(key.rawValue) contains a control character")
        }
        return (key, value)
    }

    private static func set(
        _ variable: inout String?,
        _ value: Substring,
        _ key: Key,
        _ isValid: (String) -> Bool
    ) throws(Fault) {
        guard variable == nil else { throw Fault(reason: "\(key.rawValue) is set twice") }
        let value = String(value)
        guard isValid(value) else { throw Fault(reason: "the value of \(key.rawValue) is empty or invalid") }
        variable = value
    }

    /// Parses `Name: value` (RFC 9110, 5.1).
    private static func field(_ text: Substring) throws(Fault) -> Field {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0]
        let isToken =
            !name.isEmpty
            && name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        guard parts.count == 2, isToken, !parts[1].trimmed.isEmpty else {
            throw Fault(reason: "not a valid header; write it as `header = Name: value`")
        }
        guard !reserved.contains(name.lowercased()) else {
            throw Fault(reason: "the service sets the header \(name) itself")
        }
        return Field(name: String(name), value: String(parts[1].trimmed))
    }
}
