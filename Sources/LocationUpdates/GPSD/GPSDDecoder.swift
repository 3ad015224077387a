import CGPS
import CLinux
import FoundationEssentials
import Glibc

/// The meaning of a line of gpsd's JSON protocol.
enum GPSDMessage {
    case report(Report)
    /// A report of a receiver that is not used.
    case data
    /// A list of receivers, or a change of one. If one receiver is selected, only that one counts.
    case devices(isEmpty: Bool)
    /// gpsd accepted the request for reports.
    case watching
    /// gpsd refused a request, in its words.
    case refused(reason: String)
    /// Another message of gpsd itself.
    case other
    /// Not a line of gpsd.
    case garbage
}

/// Decodes gpsd's lines with libgps. The class at the beginning of a line decides what it is, because libgps keeps the flags of the
/// previous fix and reports success for damaged lines. See docs/decisions/0003-line-framing.md.
///
/// Not thread-safe: one thread at a time.
final class GPSDDecoder {
    private let data: UnsafeMutablePointer<gps_data_t>
    /// The device of the previous report, so that a string is created only when it changes.
    private var device: String?
    private var deviceBytes: [CChar] = [0]
    /// The selected receiver as it appears in a list of devices.
    private let wantedPath: String?

    /// Creates a decoder for the reports of `device`, or of all devices if it is `nil`.
    init(device: String?) {
        wantedPath = device.map { "\"path\":\"\($0)\"" }
        data = .allocate(capacity: 1)
        memset(data, 0, MemoryLayout<gps_data_t>.size)
    }

    deinit { data.deallocate() }

    /// Returns the meaning of `line`, which is followed by a NUL. Changes the line.
    ///
    /// - Parameter arrival: in seconds of the monotonic clock.
    func decode(_ line: UnsafeMutableBufferPointer<CChar>, arrival: Double) -> GPSDMessage {
        guard line.hasPrefix("{\"class\":\"") else { return .garbage }
        if line.hasPrefix("{\"class\":\"TPV\"") { return .report(.fix(fix(line, arrival: arrival))) }
        if line.hasPrefix("{\"class\":\"SKY\"") { return sky(line) }
        if line.hasPrefix("{\"class\":\"GST\"") { return errors(line) }
        if line.hasPrefix("{\"class\":\"DEVICES\"") {
            return .devices(isEmpty: line.find("\"devices\":[]") != nil || !hasWanted(line))
        }
        if line.hasPrefix("{\"class\":\"DEVICE\"") {
            return line.find("\"activated\":0") == nil && hasWanted(line) ? .devices(isEmpty: false) : .other
        }
        if line.hasPrefix("{\"class\":\"WATCH\"") { return .watching }
        if line.hasPrefix("{\"class\":\"ERROR\"") {
            return .refused(reason: text(of: "\"message\":\"", in: line) { String(cString: $0) } ?? "no reason")
        }
        for answer in Self.answers where line.hasPrefix(answer) { return .other }
        return .data
    }

    private static let answers: [StaticString] = [
        "{\"class\":\"VERSION\"", "{\"class\":\"POLL\"",
    ]

    private func fix(_ line: UnsafeMutableBufferPointer<CChar>, arrival: Double) -> Fix {
        // libgps turns any text into a time.
        let isTimeValid = line.find("\"time\":\"").map(Self.isRFC3339) ?? true
        guard unpack(line) else { return Fix(mode: 3, arrival: arrival) }
        let fix = data.pointee.fix
        return Fix(
            mode: Int(fix.mode),
            time: isTimeValid ? Self.date(fix.time) : nil,
            latitude: fix.latitude.finite,
            longitude: fix.longitude.finite,
            altitude: fix.altMSL.finite ?? fix.altHAE.finite,
            speed: fix.speed.finite,
            course: fix.track.finite,
            eph: fix.eph.finite,
            epx: fix.epx.finite,
            epy: fix.epy.finite,
            epv: fix.epv.finite,
            status: Int(cgps_fix_status(data)),
            device: name(cgps_device(data)),
            arrival: arrival
        )
    }

    /// Passes `line` to libgps, changing the line; returns false if it is not a well-formed report.
    private func unpack(_ line: UnsafeMutableBufferPointer<CChar>) -> Bool {
        // libgps accepts truncated lines and truncated numbers. If a second "class" follows something that it cannot parse,
        // gps_unpack of 3.22 loops for ever.
        let rest = UnsafeMutableBufferPointer(rebasing: line.dropFirst("{\"class\":".utf8.count))
        guard let start = line.baseAddress, rest.find("\"class\":") == nil, line.isWellFormedObject,
            line.condenseObject()
        else { return false }
        cgps_unpack(start, data)
        return true
    }

    /// Reads only the HDOP: unpacking a SKY costs twice as much as a TPV.
    private func sky(_ line: UnsafeMutableBufferPointer<CChar>) -> GPSDMessage {
        guard let value = line.find("\"hdop\":") else { return .data }
        let hdop = strtod(value, nil)
        guard hdop.isFinite, hdop > 0 else { return .data }
        return .report(.sky(hdop: hdop, device: deviceName(line)))
    }

    private func errors(_ line: UnsafeMutableBufferPointer<CChar>) -> GPSDMessage {
        let device = deviceName(line)
        guard unpack(line) else { return .garbage }
        guard let errors = cgps_gst(data), let time = Self.date(errors.pointee.utctime) else { return .data }
        return .report(
            .gst(
                time: time,
                latitudeError: errors.pointee.lat_err_deviation,
                longitudeError: errors.pointee.lon_err_deviation,
                device: device
            )
        )
    }

    /// Times that a receiver can report: 1980 to 2100, in seconds since 1970.
    private static let possibleTimes = 315_532_800..<4_102_444_800

    /// Returns whether the text up to the next quote is a time as in RFC 3339, section 5.6: `2014-12-22T04:05:13.000Z`.
    private static func isRFC3339(_ text: UnsafeMutablePointer<CChar>) -> Bool {
        func matches(_ form: StaticString, at start: Int) -> Bool {
            (0..<form.utf8CodeUnitCount).allSatisfy { index in
                let (wanted, found) = (form.utf8Start[index], UInt8(bitPattern: text[start + index]))
                return wanted == UInt8(ascii: "0") ? (0x30...0x39).contains(found) : wanted == found
            }
        }
        guard matches("0000-00-00T00:00:00", at: 0) else { return false }
        var end = 19
        if matches(".0", at: end) {
            end += 2
            while matches("0", at: end) { end += 1 }
        }
        return matches("Z\"", at: end) || matches("+00:00\"", at: end) || matches("-00:00\"", at: end)
    }

    /// Returns the time rounded to milliseconds; `nil` if it is unknown or impossible.
    private static func date(_ time: timespec) -> Date? {
        guard possibleTimes.contains(Int(time.tv_sec)) else { return nil }
        let milliseconds = Double(time.tv_sec) * 1000 + (Double(time.tv_nsec) / 1e6).rounded()
        return Date(timeIntervalSince1970: milliseconds / 1000)
    }

    private func deviceName(_ line: UnsafeMutableBufferPointer<CChar>) -> String? {
        text(of: "\"device\":\"", in: line, name)
    }

    /// Calls `make` with the text between the first `key` in `line` and the next quote; returns `nil` if there is none.
    private func text(
        of key: StaticString,
        in line: UnsafeMutableBufferPointer<CChar>,
        _ make: (UnsafePointer<CChar>) -> String?
    ) -> String? {
        guard let value = line.find(key), let end = strchr(value, Int32(UInt8(ascii: "\""))) else { return nil }
        let saved = end.pointee
        end.pointee = 0
        defer { end.pointee = saved }
        return make(value)
    }

    private func hasWanted(_ line: UnsafeMutableBufferPointer<CChar>) -> Bool {
        guard let wantedPath, let start = line.baseAddress else { return true }
        return strstr(start, wantedPath) != nil
    }

    private func name(_ bytes: UnsafePointer<CChar>?) -> String? {
        guard let bytes, bytes[0] != 0 else { return nil }
        if device != nil, strcmp(bytes, deviceBytes) == 0 { return device }
        device = String(cString: bytes)
        deviceBytes = Array(UnsafeBufferPointer(start: bytes, count: strlen(bytes) + 1))
        return device
    }
}

extension UnsafeMutableBufferPointer<CChar> {
    fileprivate func hasPrefix(_ prefix: StaticString) -> Bool {
        guard count >= prefix.utf8CodeUnitCount, let baseAddress else { return false }
        return memcmp(baseAddress, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
    }

    /// Returns a pointer to the first byte after `text`, or `nil` if it does not occur.
    fileprivate func find(_ text: StaticString) -> UnsafeMutablePointer<CChar>? {
        let length = text.utf8CodeUnitCount
        guard let baseAddress, let found = clinux_find(baseAddress, count, text.utf8Start, length) else { return nil }
        return UnsafeMutablePointer(mutating: found) + length
    }
}
