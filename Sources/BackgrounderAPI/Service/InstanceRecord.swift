import FoundationEssentials
import Glibc

/// The record of the service of a home, which lies beside the lock file for other processes to read.
package struct InstanceRecord: Codable, Hashable, Sendable {
    package var pid: Int32
    /// The absolute path of the configuration file.
    package var configuration: String
    package var source: String
    package var driver: String
    /// The absolute path of the recording of gpsd; `nil` if there is none.
    package var recording: String?
    /// The options of the `backgrounder start` that started it, with absolute paths and without `--home`; `nil` if
    /// another program started it.
    package var options: [String]?

    /// Creates an instance record.
    package init(
        pid: Int32,
        configuration: String,
        source: String,
        driver: String,
        recording: String? = nil,
        options: [String]? = nil
    ) {
        self.pid = pid
        self.configuration = configuration
        self.source = source
        self.driver = driver
        self.recording = recording
        self.options = options
    }

    /// Replaces the record at `path` atomically.
    ///
    /// - Throws: the error of writing the file.
    package func write(to path: String) throws {
        try JSON.encode(self).write(to: URL(filePath: path), options: .atomic)
    }

    /// Returns the record at `path`; `nil` if there is none.
    package static func read(_ path: String) -> InstanceRecord? {
        FileManager.default.contents(atPath: path).flatMap { try? JSON.decode(InstanceRecord.self, from: $0) }
    }
}
