import BackgrounderAPI
import FoundationEssentials
import Testing

/// The JSON form of the values.
@Suite struct ValueTests {
    @Test func `rejection counts are an object with every reason as a key, and have a total`() throws {
        var counts = RejectionCounts()
        for (index, reason) in RejectionReason.allCases.enumerated() { counts[reason] = 1 << index }
        #expect(counts.total == 1023)
        #expect(
            try JSON.line(counts) == #"{"accuracy":16,"device":4,"distance":256,"duplicate":32,"implausible":128,"#
                + #""invalid":2,"jitter":512,"noAccuracy":8,"noFix":1,"outOfOrder":64}"#
        )
        #expect(try JSON.decode(RejectionCounts.self, from: JSON.encode(counts)) == counts)
        #expect(RejectionReason.allCases.allSatisfy { RejectionCounts()[$0] == 0 })
    }

    @Test func `rejection reasons of another version are ignored`() throws {
        let counts = try JSON.decode(RejectionCounts.self, from: Data(#"{"noFix":3,"weather":9}"#.utf8))
        #expect(counts[.noFix] == 3)
        #expect(counts.total == 3)
    }

    @Test(arguments: [(SingleMode.off, "false"), (.on, "true"), (.oneshot, #""oneshot""#)])
    func `the single mode is written as false, true or oneshot`(mode: SingleMode, text: String) throws {
        #expect(try JSON.line(mode) == text)
        #expect(try JSON.decode(SingleMode.self, from: Data(text.utf8)) == mode)
    }

    @Test func `the single mode is also read from the words on and off, and from nothing else`() throws {
        #expect(try JSON.decode(SingleMode.self, from: Data(#""on""#.utf8)) == .on)
        #expect(try JSON.decode(SingleMode.self, from: Data(#""off""#.utf8)) == .off)
        for text in [#""twice""#, "1", "null", "[]"] {
            #expect(throws: DecodingError.self) { try JSON.decode(SingleMode.self, from: Data(text.utf8)) }
        }
    }

    @Test func `an invalid replay gain mode is refused with a list of the valid ones`() throws {
        #expect(try JSON.decode(ReplayGainMode.self, from: Data(#""album""#.utf8)) == .album)
        let error = #expect(throws: DecodingError.self) {
            try JSON.decode(ReplayGainMode.self, from: Data(#""loud""#.utf8))
        }
        guard case .dataCorrupted(let context) = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(context.debugDescription == #""loud" is not a mode; use one of off, track, album, auto"#)
    }

    @Test(arguments: [
        ("{}", LocationChange()),
        (#"{"maximumAccuracy":null}"#, LocationChange(maximumAccuracy: .some(nil))),
        (#"{"maximumAccuracy":10}"#, LocationChange(maximumAccuracy: 10)),
        (
            #"{"desiredAccuracy":"best","distanceFilter":2.5,"updating":false}"#,
            LocationChange(updating: false, desiredAccuracy: .best, distanceFilter: 2.5)
        ),
    ])
    func `a location change keeps null and absent apart`(text: String, change: LocationChange) throws {
        let read = try JSON.decode(LocationChange.self, from: Data(text.utf8))
        #expect(read == change)
        #expect(read.maximumAccuracy.map { $0 == nil } == change.maximumAccuracy.map { $0 == nil })
        #expect(try JSON.line(change) == text)
    }

    @Test func `unknown values are omitted`() throws {
        let location = Location(latitude: 1, longitude: 2.5, timestamp: Date(timeIntervalSince1970: 0), mode: 2)
        #expect(
            try JSON.line(location)
                == #"{"latitude":1,"longitude":2.5,"mode":2,"timestamp":"1970-01-01T00:00:00.000Z"}"#
        )
        #expect(try JSON.line(CurrentItem(item: nil)) == "{}")
        let status = ServiceStatus(
            version: "1",
            pid: 2,
            state: .suspended,
            since: Date(timeIntervalSince1970: 0),
            attached: 0,
            modes: [.audio, .remoteNotification]
        )
        #expect(
            try JSON.line(status) == #"{"attached":0,"modes":["audio","remote-notification"],"pid":2,"#
                + #""since":"1970-01-01T00:00:00.000Z","state":"suspended","version":"1"}"#
        )
    }

    @Test func `a location survives encoding and decoding unchanged`() throws {
        let location = Location(
            latitude: -37.334821056789,
            longitude: 180,
            altitude: -12.5,
            horizontalAccuracy: 4.75,
            accuracySource: .gst,
            verticalAccuracy: 9,
            speed: 0,
            course: 359.9,
            timestamp: Date(timeIntervalSince1970: 1_763_708_149.786),
            segmentStart: true
        )
        #expect(try JSON.decode(Location.self, from: JSON.encode(location)) == location)
    }

    @Test func `every error code has its HTTP status`() {
        let statuses = WireError.Code.allCases.map(\.httpStatus)
        #expect(statuses == [400, 401, 403, 404, 405, 409, 413, 421, 415, 422, 503])
    }

    @Test func `an item's file name is the last part of its path`() {
        #expect(PlayerItem(id: 1, position: 0, path: "/music/a b.mp3").fileName == "a b.mp3")
        #expect(PlayerItem(id: 1, position: 0, path: "/").fileName == "/")
    }
}
