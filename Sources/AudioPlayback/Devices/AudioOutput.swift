import CAO
import Glibc
import MediaFiles

/// An open libao device. Only the thread that opened it may use it.
///
/// `play` and `close` block for as long as the sound server does, possibly forever.
final class AudioOutput {
    private let device: OpaquePointer
    /// The `errno` of a failed `play`; 0 if there was none.
    private(set) var failure: CInt = 0

    enum Target {
        /// A live driver; `device` names a sink or card, nil the driver's default.
        case live(driver: String, device: String? = nil)
        case file(driver: String, path: String)
    }

    /// Opens a device. May block forever if the sound server is stopped.
    ///
    /// - Throws: ``OutputError/notOpened(driver:reason:)``.
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
                // Tuned: a large buffer needs the fewest wakeups. The pulse driver's option of the same name overflows.
                if driver == "alsa" { ao_append_option(&options, "buffer_time", "500") }
                return ao_open_live(id, &sampleFormat, options)
            case .file(_, let path):
                return ao_open_file(id, path, 1, &sampleFormat, options)
            }
        }
        guard let opened else { throw .notOpened(driver: driver, reason: Self.reason(errno, target)) }
        device = opened
    }

    /// Plays samples. Returns false if the device is lost or its disk is full.
    func play(_ samples: UnsafeMutablePointer<Int16>, bytes: Int) -> Bool {
        errno = 0
        let isAccepted = samples.withMemoryRebound(to: CChar.self, capacity: bytes) {
            ao_play(device, $0, UInt32(bytes)) != 0
        }
        if !isAccepted { failure = errno }
        return isAccepted
    }

    /// Plays everything that was handed over, then closes the device. Call nothing afterwards.
    func close() { ao_close(device) }

    /// Returns libao's channel names in the order of WAVE files, or nil for mono and stereo.
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

    /// Returns the text for an error. libao sets `errno` to its own codes, except that of the system when a file cannot be
    /// created.
    private static func reason(_ code: CInt, _ target: Target) -> String {
        switch (code, target) {
        case (AO_EOPENDEVICE, _): "no such device, or it does not answer"
        case (AO_EOPENFILE, .file(_, let path)): "cannot write \(path)"
        case (AO_EBADFORMAT, _): "this audio format is not supported"
        case (AO_EBADOPTION, _): "an option is not supported"
        default: "cannot open the device (libao error \(code))"
        }
    }
}

/// The reason why an output device cannot be opened.
enum OutputError: Error, Hashable, Sendable {
    case notOpened(driver: String, reason: String)

    var reason: String {
        switch self {
        case .notOpened(let driver, let reason): "\(driver): \(reason)"
        }
    }
}

extension String? {
    /// Calls `body` with a C string that lives as long as the call, or nil.
    fileprivate func withMutableCString<Result>(_ body: (UnsafeMutablePointer<CChar>?) -> Result) -> Result {
        guard let self else { return body(nil) }
        var bytes = Array(self.utf8CString)
        return bytes.withUnsafeMutableBufferPointer { body($0.baseAddress) }
    }
}
