import BackgrounderAPI

/// User and password for a broker, from a file that nobody else may read.
package struct BrokerCredentials: Sendable {
    var user: String
    var password: String?

    /// Reads the file at `path`: the user on the first line and the password on the second, or `USER:PASSWORD` on one.
    ///
    /// It is read for each connection, so that a file that was corrected counts at once. May wait for the disk.
    package init(path: String) throws(CredentialsError) {
        // judgement: two lines
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
    /// What is wrong with the file at `path`; looked at on a thread that may wait for the disk.
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

/// Why there are no credentials.
package enum CredentialsError: Error, Hashable, Sendable, CustomStringConvertible {
    case missing(String)
    case unreadable(String, String)
    /// Others may read it.
    case open(String, mode: UInt32)
    case form(String)
    /// What is wrong with one line of it.
    case line(String, Int, String)

    package var description: String {
        switch self {
        case .missing(let path): "there is no file \(path)"
        case .unreadable(let path, let reason): "\(path) cannot be read: \(reason)"
        case .open(let path, let mode):
            "\(path) has the mode 0\(String(mode, radix: 8)), so that others may read it; `chmod 600` it"
        case .line(let path, let number, let reason): "\(path):\(number): \(reason)"
        case .form(let path): "\(path) must hold the user on one line and the password on the next, or USER:PASSWORD"
        }
    }
}
