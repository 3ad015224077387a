import BackgrounderAPI
import FoundationEssentials

@testable import LocationUpdates

/// Reads a gpsd log or a GPX file, and checks that the filter delivers only valid positions and times.
enum LocationTarget {
    /// Seconds since 1970: the years 1980 to 2100 from a receiver, and 1 to 9999 from a file.
    private static let receiverTimes = 315_532_800.0..<4_102_444_800
    private static let fileTimes = -62_135_596_800.0..<253_402_300_800

    static func readLog(_ bytes: [UInt8]) {
        let path = MemoryFile.write(bytes)
        var filter = LocationFilter()
        do throws(TrackFault) {
            let reader = try GPSDLogReader(path: path)
            while let reports = try reader.next() {
                for logged in reports { check(filter.receive(logged.report), receiverTimes) }
            }
        } catch {}
        listen(to: bytes)
    }

    static func readTrack(_ bytes: [UInt8]) {
        let path = MemoryFile.write(bytes)
        var filter = LocationFilter()
        do throws(TrackFault) {
            let reader = try GPXReader(path: path, start: Date(timeIntervalSince1970: 1_700_000_000))
            while let points = try reader.next() {
                for point in points { check(filter.receive(.fix(point.fix)), fileTimes) }
            }
        } catch {}
    }

    /// Reads `bytes` as a connection that waits for the reports of one receiver.
    private static func listen(to bytes: [UInt8]) {
        let decoder = GPSDDecoder(device: "/dev/gps0")
        var framer = LineFramer()
        var rest = bytes[...]
        while !rest.isEmpty {
            _ = framer.fill { buffer in
                let part = rest.prefix(buffer.count)
                buffer.copyBytes(from: part)
                rest = rest.dropFirst(part.count)
                return part.count
            } _: { line in
                _ = decoder.decode(line, arrival: 0)
            }
        }
    }

    private static func check(_ decision: Decision?, _ times: Range<Double>) {
        guard case .accepted(let location) = decision else { return }
        precondition((-90...90).contains(location.latitude) && (-180...180).contains(location.longitude))
        precondition(times.contains(location.timestamp.timeIntervalSince1970))
        let others = [
            location.altitude, location.horizontalAccuracy, location.verticalAccuracy, location.speed, location.course,
        ]
        precondition(others.allSatisfy { $0?.isFinite ?? true })
    }
}
