import FoundationEssentials
import Glibc

/// Who serves a home, and with what; it lies in the lock file for whoever comes second.
package struct InstanceRecord: Codable, Hashable, Sendable {
    package var pid: Int32
    /// Absolute path.
    package var configuration: String
    package var source: String
    package var driver: String
    /// Absolute path of the file to which gpsd is recorded, if it is.
    package var recording: String?

    package init(pid: Int32, configuration: String, source: String, driver: String, recording: String? = nil) {
        self.pid = pid
        self.configuration = configuration
        self.source = source
        self.driver = driver
        self.recording = recording
    }

    /// Puts this record into the file at `path`, which stays the same file: a lock on it goes on.
    package func rewrite(_ path: String) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0, let data = try? JSON.encode(self) else { return }
        defer { close(descriptor) }
        ftruncate(descriptor, 0)
        _ = data.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// The record at `path`; `nil` where there is none.
    package static func read(_ path: String) -> InstanceRecord? {
        FileManager.default.contents(atPath: path).flatMap { try? JSON.decode(InstanceRecord.self, from: $0) }
    }
}
