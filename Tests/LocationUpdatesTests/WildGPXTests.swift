import BackgrounderAPI
import Foundation
import LocationUpdates
import SystemSupport
import TestSupport
import Testing

/// GPX files as found in the wild: each file in Wild/ has a JSON file next to it with the expected points and the expected
/// fault.
@Suite(.computing) struct WildGPXTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Wild").path
    static let start = Date(timeIntervalSince1970: 1_800_000_000)
    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
        .filter { $0.hasSuffix(".gpx") }.map { String($0.dropLast(4)) }.sorted()

    /// Reads a file through a filter with default settings.
    static func read(_ path: String) -> (outcomes: [(TrackPoint, Decision?)], fault: TrackFault?) {
        var filter = LocationFilter()
        var outcomes: [(TrackPoint, Decision?)] = []
        do throws(TrackFault) {
            let reader = try GPXReader(path: path, start: start)
            while let points = try reader.next() { outcomes += points.map { ($0, filter.receive(.fix($0.fix))) } }
            return (outcomes, nil)
        } catch {
            return (outcomes, error)
        }
    }

    @Test(arguments: names)
    func `each file gives its expected points and fault, and no accepted point at 0,0`(name: String) throws {
        let content = try Data(contentsOf: URL(fileURLWithPath: "\(Self.folder)/\(name).expected.json"))
        let expected = try JSONValue(parsing: content)
        let points = try #require(expected["points"]?.array)
        let (outcomes, fault) = Self.read("\(Self.folder)/\(name).gpx")
        #expect(outcomes.count == points.count)
        for (number, ((point, decision), wanted)) in zip(outcomes, points).enumerated() {
            #expect(point.index == number)
            #expect(wanted["index"] == .number(Double(number)))
            var got: [String: JSONValue] = [:]
            switch decision {
            case .accepted(let location):
                #expect(location.latitude != 0 || location.longitude != 0)
                got = try JSONValue(parsing: try JSON.encode(location)).object ?? [:]
                got["decision"] = .string("accepted")
            case .rejected(let rejection):
                got["decision"] = .string(rejection.reason.rawValue)
                got["timestamp"] = rejection.timestamp.map { .string(ISO8601.string($0)) }
            case nil: break
            }
            for (key, value) in wanted.object ?? [:] where key != "index" {
                #expect(
                    Self.matches(got[key], value),
                    "point \(number), \(key): \(String(describing: got[key])), not \(value)"
                )
            }
        }
        guard let wanted = expected["fault"] else {
            #expect(fault == nil)
            return
        }
        #expect(fault?.line.map { .number(Double($0)) } == wanted["line"], "\(String(describing: fault))")
        #expect(fault?.description.contains(wanted["says"]?.string ?? "?") == true, "\(String(describing: fault))")
        #expect(fault?.description.contains("\n") == false)
    }

    /// `absent` stands for an unknown value; numbers are compared with a tolerance of 0.001.
    private static func matches(_ got: JSONValue?, _ wanted: JSONValue) -> Bool {
        if wanted == .string("absent") { return got == nil }
        guard case .number(let wanted) = wanted, case .number(let got) = got else { return got == wanted }
        return abs(got - wanted) < 0.001
    }

    @Test func `shuffled tracks keep all their points, and each track is one segment`() throws {
        var random = SeededGenerator(seed: 300)
        let tracks = (0..<300).map { track in
            let points = (0..<20).map { number in
                let when = ISO8601.string(Date(timeIntervalSince1970: 1_700_000_000 + Double(track * 86_400 + number)))
                return
                    "<trkpt lat=\"\(48 + Double(number) / 10_000)\" lon=\"\(track % 90)\"><time>\(when)</time></trkpt>"
            }
            return "<trk><name>\(track)</name><trkseg>\(points.joined(separator: "\n"))</trkseg></trk>\n"
        }
        let scratch = try ScratchDirectory()
        let content = "<gpx>" + tracks.shuffled(using: &random).joined() + "</gpx>"
        let (outcomes, fault) = Self.read(try scratch.write(content, to: "shuffled.gpx"))
        let accepted = outcomes.compactMap { if case .accepted(let location) = $0.1 { location } else { nil } }
        #expect(fault == nil)
        #expect(accepted.count == 6000)
        #expect(accepted.count { $0.segmentStart == true } == 300)
    }
}
