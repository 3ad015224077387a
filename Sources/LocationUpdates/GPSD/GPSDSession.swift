import CGPS
import Glibc
import SystemSupport

/// The error for a connection to gpsd that failed, in libgps' words.
struct GPSDConnectError: Error, Hashable, Sendable {
    var reason: String
}

/// The owner of one libgps connection to a gpsd.
///
/// Opening blocks for the name lookup and up to ``connectTimeout`` seconds for the network; everything else returns
/// immediately. One thread at a time.
final class GPSDSession {
    private let data: UnsafeMutablePointer<gps_data_t>
    /// Becomes readable when gpsd sends something or closes the connection.
    let descriptor: Int32

    /// Seconds: the kernel's own retries become ever rarer.
    private static let connectTimeout = 5.0

    init(_ address: GPSDAddress) throws(GPSDConnectError) {
        let data = UnsafeMutablePointer<gps_data_t>.allocate(capacity: 1)
        memset(data, 0, MemoryLayout<gps_data_t>.size)
        var reason: UnsafePointer<CChar>?
        let began = MonotonicTime.now.seconds
        let result = limitingBlockingCalls(to: Self.connectTimeout) {
            cgps_open(address.host, String(address.port), data, &reason)
        }
        guard result == 0 else {
            data.deallocate()
            let words = reason.map { String(cString: $0) } ?? "unknown error"
            let isLate = MonotonicTime.now.seconds - began >= Self.connectTimeout
            throw GPSDConnectError(reason: isLate ? "no answer within \(Int(Self.connectTimeout)) s" : words)
        }
        self.data = data
        descriptor = cgps_socket(data)
    }

    deinit {
        gps_close(data)
        data.deallocate()
    }

    /// Requests the reports of `device`, or of all devices if it is `nil`; returns false if the connection is gone.
    func watch(device: String?) -> Bool {
        let selection = device.map { ",\"device\":\"\($0)\"" } ?? ""
        return say("?WATCH={\"enable\":true,\"json\":true\(selection)};\r\n")
    }

    /// Requests the list of receivers; returns false if the connection is gone.
    func askForDevices() -> Bool { say("?DEVICES;\r\n") }

    private func say(_ request: String) -> Bool {
        // Not gps_stream and gps_send: a write to a closed connection would raise SIGPIPE.
        let bytes = Array(request.utf8)
        return send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Reads what is available without blocking; returns what recv(2) returns.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
    }
}
