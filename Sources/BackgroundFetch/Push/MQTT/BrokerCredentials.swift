import BackgrounderAPI

/// The user and password for a broker, from a file that only its owner may read.
package struct BrokerCredentials: Sendable {
    var user: String
    var password: String?

    /// Reads the file at `path`: the user on the first line and the password on the second, or `USER:PASSWORD` on one
    /// line.
    ///
    /// The file is read for each connection, so a correction takes effect with the next attempt. Blocks on disk I/O.
    package init(path: String) throws(CredentialsError) {
        // Tuned: 4096 bytes are ample for two lines.
        guard let text = try SecretFile.text(at: path, limit: 4096) else { throw .form(path) }
        let lines = text.split(whereSeparator: \.isNewline)
        switch lines.count {
        case 2: (user, password) = (String(lines[0]), String(lines[1]))
        case 1:
            let parts = lines[0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = String(parts[0])
            password = parts.count == 2 ? String(parts[1]) : nil
        default: throw .form(path)
        }
        guard !user.isEmpty else { throw .form(path) }
    }
}

extension BrokerCredentials {
    /// Returns the error in the file at `path`, if any. Reads the file on a thread of its own, which may block.
    ///
    /// - Throws: ``PushError/system(reason:)`` if there are no more threads.
    static func problem(path: String) async throws(PushError) -> CredentialsError? {
        let result: Result<CredentialsError?, PushError> = await withCheckedContinuation { continuation in
            do throws(SystemRefusal) {
                try detachThread(named: "credentials") {
                    do throws(CredentialsError) {
                        _ = try BrokerCredentials(path: path)
                        continuation.resume(returning: .success(nil))
                    } catch {
                        continuation.resume(returning: .success(error))
                    }
                }
            } catch {
                continuation.resume(returning: .failure(.system(reason: error.description)))
            }
        }
        return try result.get()
    }
}

/// Why a credentials file cannot be used.
package enum CredentialsError: Error, Hashable, Sendable, CustomStringConvertible {
    case missing(String)
    case unreadable(String, String)
    /// Other users may access it.
    case open(String, mode: UInt32)
    case form(String)
    /// One line is invalid: the path, the line number and the reason.
    case line(String, Int, String)

    package var description: String {
        switch self {
        case .missing(let path): "cannot read \(path): no such file"
        case .unreadable(let path, let reason): "cannot read \(path): \(reason)"
        case .open(let path, let mode):
            "\(path) has mode 0\(String(mode, radix: 8)), so other users can access it; run `chmod 600` on it"
        case .line(let path, let number, let reason): "\(path):\(number): \(reason)"
        case .form(let path): "\(path) must contain the user on line 1 and the password on line 2, or USER:PASSWORD"
        }
    }
}
