import CGPS
import Glibc

/// A connection to a gpsd that could not be made, in libgps' words.
struct GPSDConnectError: Error, Hashable, Sendable {
    var address: GPSDAddress
    var reason: String
}

/// Owns one connection to a gpsd.
///
/// Opening blocks for as long as the name takes, and some seconds for the network; everything else returns at once. To be used by one thread at a time.
final class GPSDSession {
    private let data: UnsafeMutablePointer<gps_data_t>
    /// Readable when gpsd has said something or has gone.
    let descriptor: Int32

    init(_ address: GPSDAddress) throws(GPSDConnectError) {
        let data = UnsafeMutablePointer<gps_data_t>.allocate(capacity: 1)
        memset(data, 0, MemoryLayout<gps_data_t>.size)
        var reason: UnsafePointer<CChar>?
        let began = monotonicSeconds()
        let result = limitingBlockingCalls(to: Judgement.connecting) {
            cgps_open(address.host, String(address.port), data, &reason)
        }
        guard result == 0 else {
            data.deallocate()
            let words = reason.map { String(cString: $0) } ?? "unknown error"
            let isLate = monotonicSeconds() - began >= Judgement.connecting
            throw GPSDConnectError(
                address: address,
                reason: isLate ? "no answer within \(Int(Judgement.connecting)) s" : words
            )
        }
        self.data = data
        descriptor = cgps_socket(data)
    }

    deinit {
        gps_close(data)
        data.deallocate()
    }

    /// Asks for reports, of one device alone where `device` names one; false when the connection is gone.
    func watch(device: String?) -> Bool {
        let selection = device.map { ",\"device\":\"\($0)\"" } ?? ""
        return say("?WATCH={\"enable\":true,\"json\":true\(selection)};\r\n")
    }

    /// Asks which receivers there are; false when the connection is gone.
    func askForDevices() -> Bool { say("?DEVICES;\r\n") }

    private func say(_ request: String) -> Bool {
        // Not gps_stream and gps_send: a write to a closed connection would raise SIGPIPE.
        let bytes = Array(request.utf8)
        return send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// What is there to read, as recv(2) says it.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
    }
}
