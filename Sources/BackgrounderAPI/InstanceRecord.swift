import FoundationEssentials

/// Who serves a home, and with what; it lies in the lock file for whoever comes second.
package struct InstanceRecord: Codable, Hashable, Sendable {
    package var pid: Int32
    /// Absolute path.
    package var configuration: String
    package var source: String
    package var driver: String

    package init(pid: Int32, configuration: String, source: String, driver: String) {
        self.pid = pid
        self.configuration = configuration
        self.source = source
        self.driver = driver
    }

    /// The record at `path`; `nil` where there is none.
    package static func read(_ path: String) -> InstanceRecord? {
        FileManager.default.contents(atPath: path).flatMap { try? JSON.decode(InstanceRecord.self, from: $0) }
    }
}
