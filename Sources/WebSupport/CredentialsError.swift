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
