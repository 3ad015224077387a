import BackgrounderAPI
import Foundation
import LocationUpdates
import SystemSupport
import TestSupport
import Testing

/// Randomly damaged files: every reader reaches an end, and no place is invented.
@Suite(.computing) struct MutationTests {
    let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    /// Returns `content` with bytes changed, removed or repeated, or cut off at a random place.
    private func mutate(_ content: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = content
        for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, place + Int.random(in: 1...40, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] = .random(in: 0...255, using: &random)
            case 1: bytes[place] = Array("<>\"{}[]:,&;/0-.eN\\".utf8).randomElement(using: &random) ?? 0
            case 2: bytes.removeSubrange(place..<end)
            case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 4: bytes.insert(contentsOf: Array("1e999 \"\" null {\"a\":[".utf8), at: place)
            default: if Int.random(in: 0..<4, using: &random) == 0 { bytes.removeSubrange(place...) }
            }
        }
        return bytes
    }

    @Test func `damaged GPX files end, faults name an existing line, and no point is at 0,0`() throws {
        var random = SeededGenerator(seed: 1)
        for name in WildGPXTests.names {
            let content = Array(try Data(contentsOf: URL(fileURLWithPath: "\(WildGPXTests.folder)/\(name).gpx")))
            for round in 0..<25 {
                let bytes = mutate(content, &random)
                let (outcomes, fault) = WildGPXTests.read(try scratch.write(bytes, to: "x.gpx"))
                #expect(outcomes.map(\.0.index) == Array(outcomes.indices), "\(name) \(round)")
                let lines = bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
                #expect((1...lines + 1).contains(fault?.line ?? 1), "\(name) \(round): \(String(describing: fault))")
                for case .accepted(let location) in outcomes.map(\.1) {
                    if location.latitude == 0, location.longitude == 0 {
                        Issue.record("\(name) \(round): \(String(decoding: bytes, as: UTF8.self))")
                    }
                }
            }
        }
    }

    @Test func `a report without a colon after a name, on which libgps hangs, is an invalid fix`() throws {
        let lines = [tpv(at: 0), #"{"class":"TPV","device"class":"TPV","mode":3,s":"TPV"}"#, tpv(at: 1)]
        let reader = try GPSDLogReader(path: try scratch.write(lines.map { $0 + "\n" }.joined(), to: "x.jsonl"))
        var filter = LocationFilter()
        let reports = try #require(try reader.next())
        var reasons: [RejectionReason?] = []
        for logged in reports {
            if case .fix(let fix) = logged.report { reasons.append(filter.reason(fix)) }
        }
        #expect(reasons == [nil, .invalid, nil])
    }

    @Test func `damaged gpsd logs end, and accepted fixes have a place, a time and an accuracy`() throws {
        var random = SeededGenerator(seed: 2)
        let satellites = (0..<30).map { #"{"PRN":\#($0),"el":40.0,"az":100.0,"ss":40.0,"used":true}"# }
        let more = [
            #"{"class":"GST","device":"/dev/gps0","time":"2023-11-14T22:13:21.000Z","rms":2.4,"lat":1.5,"lon":1.6,"alt":3.0}"#,
            #"{"class":"SKY","device":"/dev/gps0","hdop":1.1,"satellites":[\#(satellites.joined(separator: ","))]}"#,
            #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/gps0","activated":"2023-11-14T22:13:21.000Z"}]}"#,
            #"{"class":"ATT","device":"/dev/gps0","heading":14.2,"pitch":1.0}"#,
        ]
        let lines = GPSDLogTests.drive(seed: 3, count: 40) + more
        for _ in 0..<400 {
            // Damage each line separately, so that a cut removes only the end of its own line.
            let damaged = lines.flatMap { mutate(Array($0.utf8), &random) + Array("\n".utf8) }
            let reader = try GPSDLogReader(path: try scratch.write(damaged, to: "x.jsonl"))
            var filter = LocationFilter(settings: LocationSettings(desiredAccuracy: .hundredMeters))
            var fixes = 0
            while let reports = try reader.next() {
                for logged in reports {
                    if logged.index != nil { fixes += 1 }
                    guard case .accepted(let location) = filter.receive(logged.report) else { continue }
                    let isWhole =
                        (-90...90).contains(location.latitude) && (-180...180).contains(location.longitude)
                        && location.latitude != 0 && location.horizontalAccuracy ?? 0 > 0
                        && (2...3).contains(location.mode)
                    if !isWhole {
                        let text = String(decoding: damaged, as: UTF8.self).split(separator: "\n")
                        let second = ISO8601.string(location.timestamp).dropFirst(11).prefix(8)
                        Issue.record("\(location) of \(text.filter { $0.contains(second) })")
                    }
                }
            }
            let newlines = damaged.count { $0 == UInt8(ascii: "\n") }
            #expect(fixes <= newlines)
            #expect((1...newlines).contains(reader.oddLines?.line ?? 1))
        }
    }
}
