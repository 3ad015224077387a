package import BackgrounderAPI
import Glibc
import SystemSupport

/// A single look at a gpsd, without a location source.
package enum GPSDProbe {
    // Tuned: gpsd needs up to 3 s to open a serial receiver, which then reports once a second.
    private static let patience = 5.0

    /// Connects to `address`, and waits until it reports a fix or an empty list of receivers, for at most 5 s. Blocks, for at
    /// most 5 s longer if the host does not answer.
    ///
    /// - Returns: `ok`, `searching` (a receiver without a fix), `silent`, `noDevice` or `disconnected`, and the reason
    ///   for the last one.
    package static func quality(of address: GPSDAddress) -> (FixQuality, reason: String?) {
        do throws(GPSDConnectError) {
            let session = try GPSDSession(address)
            guard session.watch(device: address.device) else { return closed }
            return listen(session, address)
        } catch {
            return (.disconnected, error.reason)
        }
    }

    private static let closed = (FixQuality.disconnected, reason: Optional("the connection was closed"))

    private static func listen(_ session: GPSDSession, _ address: GPSDAddress) -> (FixQuality, reason: String?) {
        let decoder = GPSDDecoder(device: address.device)
        var framer = LineFramer()
        var isGPSD = false
        var quality = FixQuality.silent
        let deadline = MonotonicTime.now.seconds + patience
        while true {
            let left = deadline - MonotonicTime.now.seconds
            guard left > 0 else {
                return isGPSD ? (quality, nil) : (.disconnected, "the program there is not gpsd")
            }
            var descriptor = pollfd(fd: session.descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, Int32(left * 1000) + 1) > 0 else { continue }
            let count = framer.drain(session.receive) { line in
                switch decoder.decode(line, arrival: 0) {
                case .report(.fix(let fix)): quality = fix.mode >= 2 ? .ok : .searching
                case .devices(let isEmpty): quality = isEmpty ? .noDevice : quality == .noDevice ? .silent : quality
                case .garbage: return
                case .report, .data, .watching, .refused, .other: break
                }
                isGPSD = true
            }
            if count == 0 { return closed }
            switch quality {
            case .ok, .noDevice: return (quality, nil)
            case .searching, .silent, .starved, .disconnected: continue
            }
        }
    }
}
