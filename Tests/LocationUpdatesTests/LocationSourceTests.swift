import LocationUpdates
import Testing

@Suite struct LocationSourceTests {
    @Test(
        arguments: [
            ("gpsd://localhost:2947", LocationSource.gpsd(GPSDAddress(host: "localhost"))),
            (
                "gpsd://10.0.0.7:3000/dev/ttyUSB0",
                .gpsd(GPSDAddress(host: "10.0.0.7", port: 3000, device: "/dev/ttyUSB0"))
            ),
            ("gpsd://[::1]:2948", .gpsd(GPSDAddress(host: "::1", port: 2948))),
            ("gpx:/srv/a walk.gpx", .gpx(path: "/srv/a walk.gpx", rate: .times(1))),
            ("gpx:/srv/walk.gpx?rate=10", .gpx(path: "/srv/walk.gpx", rate: .times(10))),
            ("gpx:/srv/walk.gpx?rate=0.5", .gpx(path: "/srv/walk.gpx", rate: .times(0.5))),
            ("gpx:/srv/walk.gpx?rate=max", .gpx(path: "/srv/walk.gpx", rate: .max)),
            ("gpx:/srv/what?.gpx?rate=1", .gpx(path: "/srv/what?.gpx", rate: .times(1))),
            ("gpsd-log:/srv/drive.jsonl?rate=max", .gpsdLog(path: "/srv/drive.jsonl", rate: .max)),
        ]
    )
    func `a source is read from its text and described by the same text`(text: String, source: LocationSource) throws {
        #expect(try LocationSource(text, relativeTo: "/home/bus") == source)
        #expect(source.description == text)
    }

    @Test(
        arguments: [
            ("gpsd://localhost", "gpsd://localhost:2947"), ("gpsd://localhost/", "gpsd://localhost:2947"),
            ("gpsd://[fe80::1]", "gpsd://[fe80::1]:2947"), ("gpsd://h/dev/gps", "gpsd://h:2947/dev/gps"),
            ("gpx:walk.gpx", "gpx:/home/bus/walk.gpx"), ("gpx:walk.gpx?rate=1", "gpx:/home/bus/walk.gpx"),
            ("gpsd-log:drive.jsonl", "gpsd-log:/home/bus/drive.jsonl"),
        ]
    )
    func `omitted parts have defaults`(text: String, full: String) throws {
        #expect(try LocationSource(text, relativeTo: "/home/bus").description == full)
    }

    @Test(
        arguments: [
            ("", .unknownKind), ("walk.gpx", .unknownKind), ("file:walk.gpx", .unknownKind),
            ("gpsd:localhost", .unknownKind),
            ("gpsd://", .badHost), ("gpsd:///dev/gps", .badHost), ("gpsd://:2947", .badHost), ("gpsd://[::1", .badHost),
            ("gpsd://[::1]2947", .badHost), ("gpsd://a b", .badHost), ("gpsd://user@host", .badHost),
            ("gpsd://h:", .badPort("")), ("gpsd://h:0", .badPort("0")), ("gpsd://h:65536", .badPort("65536")),
            ("gpsd://h:-1", .badPort("-1")), ("gpsd://h:x", .badPort("x")), ("gpsd://::1", .badHost),
            ("gpsd://h/dev/\"", .badDevice), ("gpx:", .noPath), ("gpx:?rate=1", .noPath), ("gpx:a?rate=0", .badRate),
            ("gpx:a?rate=-1", .badRate), ("gpx:a?rate=", .badRate), ("gpx:a?rate=nan", .badRate),
            ("gpx:a?rate=1e3", .badRate),
            ("gpx:a?speed=1", .badRate), ("gpx:a\nb", .controlCharacter),
            ("gpsd-log:", .noPath), ("gpsd-log:a?rate=0", .badRate),
        ] as [(String, LocationSourceError.Reason)]
    )
    func `a bad source is refused with the allowed forms`(text: String, reason: LocationSourceError.Reason) throws {
        let error = try #require(throws: LocationSourceError.self) { try LocationSource(text, relativeTo: "/") }
        #expect(error.reason == reason)
        #expect(error.description.contains(LocationSourceError.allowed))
        #expect(!error.description.contains("\n"))
    }
}
