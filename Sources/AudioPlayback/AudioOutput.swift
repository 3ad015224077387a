import CAO
import Glibc

/// An open device of libao. The thread that opened it is the only one that uses it.
///
/// `play` and `close` block for as long as a sound server pleases, which may be for ever.
final class AudioOutput {
    private let device: OpaquePointer
    /// The system's number of the error that ended the last `play`, 0 where it gave none.
    private(set) var failure: CInt = 0

    enum Target {
        /// `device` is the name of a sink or card; without one it is the driver's default.
        case live(driver: String, device: String? = nil)
        case file(driver: String, path: String)
    }

    /// Throws the reason as text. May block for ever on a sound server that is stopped.
    init(_ target: Target, format: AudioFormat) throws(OutputError) {
        AudioLibrary.initialize()
        var options: UnsafeMutablePointer<ao_option>?
        defer { ao_free_options(options) }
        ao_append_option(&options, "quiet", "1")
        let driver =
            switch target {
            case .live(let driver, _): driver
            case .file(let driver, _): driver
            }
        let id = ao_driver_id(driver)
        guard id >= 0 else { throw .notOpened(driver: driver, reason: "libao has no such driver") }
        let matrix = Self.matrix(channels: format.channels)
        let opened: OpaquePointer? = matrix.withMutableCString { matrix in
            var sampleFormat = ao_sample_format(
                bits: 16,
                rate: CInt(format.rate),
                channels: CInt(format.channels),
                byte_format: CInt(AO_FMT_NATIVE),
                matrix: matrix
            )
            switch target {
            case .live(_, let device):
                if let device { ao_append_option(&options, driver == "pulse" ? "sink" : "dev", device) }
                if driver == "pulse" { ao_append_option(&options, "client_name", "Backgrounder") }
                // judgement: large, since it costs least; the pulse driver's own option of this name overflows.
                if driver == "alsa" { ao_append_option(&options, "buffer_time", "500") }
                return ao_open_live(id, &sampleFormat, options)
            case .file(_, let path):
                return ao_open_file(id, path, 1, &sampleFormat, options)
            }
        }
        guard let opened else { throw .notOpened(driver: driver, reason: Self.reason(errno, target)) }
        device = opened
    }

    /// False when the device is gone, or its disk full.
    func play(_ samples: UnsafeMutablePointer<Int16>, bytes: Int) -> Bool {
        errno = 0
        let isTaken = samples.withMemoryRebound(to: CChar.self, capacity: bytes) {
            ao_play(device, $0, UInt32(bytes)) != 0
        }
        if !isTaken { failure = errno }
        return isTaken
    }

    /// Returns when what was given has been heard. Nothing may be called after it.
    func close() { ao_close(device) }

    /// libao's names of the channels in the order of WAVE files; none where there is nothing to say.
    private static func matrix(channels: Int) -> String? {
        switch channels {
        case 3: "L,R,C"
        case 4: "L,R,BL,BR"
        case 5: "L,R,C,BL,BR"
        case 6: "L,R,C,LFE,BL,BR"
        case 7: "L,R,C,LFE,BC,SL,SR"
        case 8: "L,R,C,LFE,BL,BR,SL,SR"
        default: nil
        }
    }

    /// libao puts its own numbers into `errno`, and a file that cannot be created leaves the system's there.
    private static func reason(_ code: CInt, _ target: Target) -> String {
        switch (code, target) {
        case (AO_EOPENDEVICE, _): "no such device, or nothing answers"
        case (AO_EOPENFILE, .file(_, let path)): "\(path) cannot be written"
        case (AO_EBADFORMAT, _): "it does not take this format"
        case (AO_EBADOPTION, _): "it does not take an option"
        default: "it does not open (error \(code))"
        }
    }
}

/// Why there is no sound.
enum OutputError: Error, Hashable, Sendable {
    case notOpened(driver: String, reason: String)

    var reason: String {
        switch self {
        case .notOpened(let driver, let reason): "\(driver): \(reason)"
        }
    }
}

extension String? {
    /// A C string that lives as long as the call, or none.
    fileprivate func withMutableCString<Result>(_ body: (UnsafeMutablePointer<CChar>?) -> Result) -> Result {
        guard let self else { return body(nil) }
        var bytes = Array(self.utf8CString)
        return bytes.withUnsafeMutableBufferPointer { body($0.baseAddress) }
    }
}
