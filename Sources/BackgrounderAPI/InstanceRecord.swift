import FoundationEssentials
import Glibc

/// Who serves a home, and with what; it lies beside the lock file, for a process that comes second.
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

    /// Puts this record in the place of the one at `path`. A reader sees the one or the other, whole.
    package func write(to path: String) throws {
        try JSON.encode(self).write(to: URL(filePath: path), options: .atomic)
    }

    /// The record at `path`; `nil` where there is none.
    package static func read(_ path: String) -> InstanceRecord? {
        FileManager.default.contents(atPath: path).flatMap { try? JSON.decode(InstanceRecord.self, from: $0) }
    }
}
