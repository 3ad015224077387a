package import WebSupport

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
