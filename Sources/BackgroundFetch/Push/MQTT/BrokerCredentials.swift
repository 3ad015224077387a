import BackgrounderAPI
import CLinux
import FoundationEssentials
import Glibc

/// User and password for a broker, from a file that nobody else may read.
package struct BrokerCredentials: Sendable {
    var user: String
    var password: String?

    /// Reads the file at `path`: the user on the first line and the password on the second, or `USER:PASSWORD` on one.
    ///
    /// It is read for each connection, so that a file that was corrected counts at once. May wait for the disk.
    package init(path: String) throws(CredentialsError) {
        // Without blocking: it may be a FIFO.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw errno == ENOENT ? .missing(path) : .unreadable(path, systemMessage(errno)) }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw .unreadable(path, systemMessage(errno)) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw .unreadable(path, "it is no regular file") }
        guard facts.st_mode & 0o077 == 0 else { throw .open(path, mode: facts.st_mode & 0o777) }
        var bytes = [UInt8](repeating: 0, count: 4097)  // judgement: two lines
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw .unreadable(path, systemMessage(errno)) }
        guard count < bytes.count, let text = String(validating: bytes[..<count], as: UTF8.self), !text.contains("\0")
        else { throw .form(path) }
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

    package var description: String {
        switch self {
        case .missing(let path): "there is no file \(path)"
        case .unreadable(let path, let reason): "\(path) cannot be read: \(reason)"
        case .open(let path, let mode):
            "\(path) has the mode 0\(String(mode, radix: 8)), so that others may read it; `chmod 600` it"
        case .form(let path): "\(path) must hold the user on one line and the password on the next, or USER:PASSWORD"
        }
    }
}
