import Foundation
import TestSupport
import Testing

@testable import LocationUpdates

@Suite struct JSONObjectTests {
    @Test(
        arguments: [
            (#"{"class":"TPV","ept":0.005,"lat":1.5,"sep":2}"#, #"{"class":"TPV","lat":1.5}"#),
            (#"{"class":"TPV","alt":1,"altHAE":2,"altMSL":-3.5e1}"#, #"{"class":"TPV","altHAE":2,"altMSL":-3.5e1}"#),
            (#"{"climb":1,"eps":2,"epx":3,"magvar":4,"track":5}"#, #"{"climb":1,"epx":3,"track":5}"#),
            (
                #"{"mode":3,"eps":"2","ept":{"a":[1,2]},"epc":[3]}"#,
                #"{"mode":3,"eps":"2","ept":{"a":[1,2]},"epc":[3]}"#
            ),
            (#"{"a":{"b":1,"ept":2},"ept":3}"#, #"{"a":{"b":1,"ept":2}}"#),
            (#"{"a":",\"ept\":1","sep":1}"#, #"{"a":",\"ept\":1"}"#),
            (#"{"a":1, "ept":2}"#, #"{"a":1, "ept":2}"#),
            (#"{"a":1,"ept":2} "#, #"{"a":1} "#),
            (#"{"a":1,"epd""#, nil), (#"{"a":1,"ept":2"#, nil), (#"{"a":1}{"b":2}"#, nil), (#"{"a":"b}"#, nil),
            (#"{"a":1,"e"}"#, #"{"a":1,"e"}"#), ("[1,2]", "[1,2]"), ("", nil), ("{\"a\":\"\\\u{0}\"}", nil),
        ] as [(String, String?)]
    )
    func `unused numbers are removed from an object, and nothing else is`(line: String, expected: String?) {
        withLine(line) { line in
            let isObject = line.condenseObject()
            #expect((isObject ? line.baseAddress.map { String(cString: $0) } : nil) == expected)
        }
    }

    @Test func `libgps reads the used fields of a condensed gpsd report unchanged`() throws {
        let report = """
            {"class":"TPV","device":"/dev/ttyUSB0","status":2,"mode":3,"time":"2026-11-21T08:00:00.000Z","ept":0.005,\
            "lat":48.123456789,"lon":11.5,"altHAE":548.2,"altMSL":502.1,"alt":502.1,"epx":8.5,"epy":10.9,"epv":25.7,\
            "track":0.25,"magtrack":3.6,"magvar":3.4,"speed":10.5,"climb":0.1,"eps":21.9,"epc":51.5,"geoidSep":46.1,\
            "eph":17.1,"sep":27.4}
            """
        let fix = try #require(
            withLine(report) { line in
                if case .report(.fix(let fix)) = GPSDDecoder(device: nil).decode(line, arrival: 1) { fix } else { nil }
            }
        )
        var expected = Fix(mode: 3, latitude: 48.123456789, longitude: 11.5, altitude: 502.1, speed: 10.5, course: 0.25)
        expected.time = try Date("2026-11-21T08:00:00Z", strategy: .iso8601)
        (expected.eph, expected.epx, expected.epy, expected.epv) = (17.1, 8.5, 10.9, 25.7)
        (expected.status, expected.device, expected.arrival) = (2, "/dev/ttyUSB0", 1)
        #expect(fix == expected)
    }

    /// Calls `body` with `text` as the framer returns it: a buffer followed by a NUL byte.
    private func withLine<Result>(_ text: String, _ body: (UnsafeMutableBufferPointer<CChar>) -> Result) -> Result {
        var bytes = text.utf8.map { CChar(bitPattern: $0) } + [0]
        return bytes.withUnsafeMutableBufferPointer { body(UnsafeMutableBufferPointer(rebasing: $0.dropLast())) }
    }
}
