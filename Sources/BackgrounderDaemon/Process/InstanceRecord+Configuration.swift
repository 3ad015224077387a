import AudioPlayback
import BackgrounderAPI
import Glibc
import LocationUpdates

extension InstanceRecord {
    /// Creates the record of this process.
    init(_ configuration: DaemonConfiguration, recording: String?, options: [String]?) {
        self.init(
            pid: getpid(),
            configuration: configuration.file,
            source: configuration.value(Keys.source).description,
            driver: configuration.value(Keys.driver).description,
            recording: recording,
            options: options
        )
    }
}
