import Glibc
import SystemSupport
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

/// The certificate of a client for TLS, and its key: PEM files.
package struct ClientCertificate: Hashable, Sendable {
    package var file: String
    /// The absolute path of the key, readable only by its owner.
    package var key: String

    /// Creates a reference to two files, which are read for each connection.
    package init(file: String, key: String) { (self.file, self.key) = (file, key) }

    /// Checks the two files. Blocks on disk I/O.
    package func check() throws(CredentialsError) {
        // Tuned: a key of 16,384 bits has 13 kB.
        guard let text = try SecretFile.text(at: key, limit: 64 << 10), text.contains("PRIVATE KEY-----") else {
            throw .unreadable(key, "not a private key in PEM")
        }
        guard access(file, R_OK) == 0 else {
            throw errno == ENOENT ? .missing(file) : .unreadable(file, systemMessage(errno))
        }
    }
}
