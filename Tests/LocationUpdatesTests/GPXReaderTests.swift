import BackgrounderAPI
import Foundation
import LocationUpdates
import TestSupport
import Testing

@Suite(.computing) struct GPXReaderTests {
    let scratch: ScratchDirectory
    static let start = Date(timeIntervalSince1970: 1_800_000_000)

    init() throws {
        scratch = try ScratchDirectory()
    }

    /// Reads all points of a file, and the fault that ended it.
    func read(_ content: some Sequence<UInt8>) throws -> (points: [TrackPoint], fault: TrackFault?) {
        let path = try scratch.write(content, to: "track.gpx")
        var points: [TrackPoint] = []
        do throws(TrackFault) {
            let reader = try GPXReader(path: path, start: Self.start)
            while let next = try reader.next() { points += next }
            return (points, nil)
        } catch {
            return (points, error)
        }
    }

    func read(_ content: String) throws -> (points: [TrackPoint], fault: TrackFault?) {
        try read(content.utf8)
    }

    /// Reads a file with one point that contains `inner`.
    func point(_ inner: String, attributes: String = "lat=\"1\" lon=\"2\"", root: String = "") throws -> Fix {
        let (points, fault) = try read(
            "<gpx \(root)><trk><trkseg><trkpt \(attributes)>\(inner)</trkpt></trkseg></trk></gpx>"
        )
        #expect(fault == nil)
        #expect(points.count == 1)
        return try #require(points.first).fix
    }

    @Test func `place, altitude, time, mode, HDOP, speed and course are read`() throws {
        let fix = try point(
            """
            <ele>520.5</ele><time>2014-12-22T04:05:13Z</time><fix>2d</fix><hdop>1.2</hdop><speed>15.9</speed><course>255.94</course>
            """,
            attributes: "lat=\"37.33482105\" lon=\"-122.03350886\""
        )
        #expect(
            fix
                == Fix(
                    mode: 2,
                    time: Date(timeIntervalSince1970: 1_419_221_113),
                    latitude: 37.33482105,
                    longitude: -122.03350886,
                    altitude: 520.5,
                    speed: 15.9,
                    course: 255.94,
                    hdop: 1.2,
                    opensSegment: true,
                    isFromReceiver: false
                )
        )
    }

    @Test(
        arguments: [
            ("none", 1), ("2d", 2), ("3d", 3), ("dgps", 3), ("pps", 3), (" 2d\n", 2), ("odd", 3),
        ]
    )
    func `the kind of fix determines the mode`(kind: String, mode: Int) throws {
        #expect(try point("<fix>\(kind)</fix>").mode == mode)
    }

    @Test(
        arguments: [
            ("2026-01-01T00:00:00Z", 1_767_225_600.0), ("2026-01-01T02:00:00+02:00", 1_767_225_600),
            ("\n 2026-01-01T00:00:00.123456789Z ", 1_767_225_600.123), ("2016-12-31T23:59:60Z", 1_483_228_800),
            ("1970-01-01T00:00:00Z", 0), ("2026-01-01T00:00:00", 1_767_225_600),
        ]
    )
    func `times are read in every usual form`(text: String, seconds: Double) throws {
        #expect(try point("<time>\(text)</time>").time == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        arguments: [
            "", "lat=\"\" lon=\"2\"", "lat=\"1\"", "lon=\"2\"", "lat=\"1,5\" lon=\"2\"", "lat=\"NaN\" lon=\"2\"",
            "lat=\"1\" lon=\"inf\"",
            "lat=\"0x10\" lon=\"2\"", "lat=\"1 2\" lon=\"2\"", "lat=\"1e999\" lon=\"2\"", "lat=\"12.5N\" lon=\"2\"",
            "lat=\".\" lon=\"2\"",
            "lat=\"95\" lon=\"2\"", "lat=\"1\" lon=\"-180.5\"", "lat=\"-37050536\" lon=\"2\"", "lat=\"--1\" lon=\"2\"",
        ]
    )
    func `a point with a missing, malformed or out-of-range coordinate is invalid`(attributes: String) throws {
        var filter = LocationFilter()
        #expect(filter.reason(try point("", attributes: attributes)) == .invalid)
    }

    @Test(
        arguments: [
            "0", "-0.0", "+1.5", "1.", ".5", "47.123456789012345678", "1e1", "-1.25E-3", "  12.5\t", "0.1",
            "37.33482105", "89.99999999999999",
        ]
    )
    func `numbers are read exactly, with exponents and many digits`(text: String) throws {
        let expected = try #require(Double(text.trimmingCharacters(in: .whitespaces)))
        #expect(try point("", attributes: "lat=\"\(text)\" lon=\"2\"").latitude == expected)
    }

    @Test(
        arguments: [
            (
                "<b:accuracy>4.5</b:accuracy><b:speed>3</b:speed><b:course>90</b:course><b:verticalAccuracy>9</b:verticalAccuracy>",
                4.5, 3.0, 90.0
            ),
            (
                "<gpxtpx:TrackPointExtension><gpxtpx:speed>3</gpxtpx:speed><gpxtpx:course>90</gpxtpx:course></gpxtpx:TrackPointExtension>",
                nil, 3, 90
            ),
            ("<t:TrackPointExtension><t:hr>77</t:hr><t:speed>3</t:speed></t:TrackPointExtension>", nil, 3, nil),
            ("<gpxdata:speed>3</gpxdata:speed>", nil, 3, nil), ("<osmand:speed>3</osmand:speed>", nil, 3, nil),
            ("<wst:accuracy>6</wst:accuracy>", 6, nil, nil), ("<wst:trkpt accuracy=\"6\"/>", 6, nil, nil),
            ("<accuracy>6</accuracy>", 6, nil, nil),
            ("<other:speed>99</other:speed><unbound:accuracy>99</unbound:accuracy>", nil, nil, nil),
            ("<gpxdata:speed>99</gpxdata:speed><b:speed>3</b:speed>", nil, 3, nil),
            ("<b:speed>3</b:speed><gpxdata:speed>99</gpxdata:speed>", nil, 3, nil),
        ] as [(String, Double?, Double?, Double?)]
    )
    func `accuracy, speed and course are read from known extensions only`(
        inner: String,
        accuracy: Double?,
        speed: Double?,
        course: Double?
    ) throws {
        let fix = try point(
            "<extensions>\(inner)</extensions>",
            root: """
                xmlns="http://www.topografix.com/GPX/1/1" xmlns:b="https://backgrounder.example/gpx/1" xmlns:other="urn:other"
                xmlns:t="http://www.garmin.com/xmlschemas/TrackPointExtension/v2"
                """
        )
        #expect(fix.statedAccuracy == accuracy)
        #expect(fix.speed == speed)
        #expect(fix.course == course)
    }

    @Test func `prefixes, a byte order mark, comments, CDATA and other encodings change nothing`() throws {
        let plain =
            "<gpx><trk><name>Zürich</name><trkseg><trkpt lat=\"47.5\" lon=\"8.5\"><ele>400</ele></trkpt></trkseg></trk></gpx>"
        let expected = try read(plain).points
        #expect(expected.count == 1)
        #expect(expected.first?.fix.altitude == 400)
        var forms: [[UInt8]] = [
            [0xEF, 0xBB, 0xBF] + Array(plain.utf8),
            Array(plain.replacing("<ele>400", with: "<!-- <trkpt/> --><ele><![CDATA[400]]>").utf8),
            Array(
                plain.replacing("</", with: "</ns1:").replacing(#/<(?<name>[a-z])/#, with: { "<ns1:\($0.output.name)" })
                    .utf8
            ),
        ]
        forms.append([0xFF, 0xFE] + plain.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
        for encoding in ["ISO-8859-1", "windows-1252"] {
            forms.append(
                Array("<?xml version=\"1.0\" encoding=\"\(encoding)\"?>".utf8)
                    + plain.unicodeScalars.map { UInt8($0.value) }
            )
        }
        for form in forms {
            let (points, fault) = try read(form)
            #expect(fault == nil)
            #expect(points == expected)
        }
    }

    @Test func `only track points are read, and not waypoints, routes or metadata`() throws {
        let (points, fault) = try read(
            """
            <gpx><metadata><time>2001-01-01T00:00:00Z</time></metadata><wpt lat="1" lon="1"/><rte><rtept lat="2" lon="2"/></rte>
            <trk><trkseg><trkpt lat="3" lon="3"><time>2026-01-01T00:00:00Z</time></trkpt></trkseg></trk></gpx>
            """
        )
        #expect(fault == nil)
        #expect(points.map(\.fix.latitude) == [3])
        #expect(try read("<gpx/>").points.isEmpty)
    }

    @Test func `the first point of each segment opens one, and the index counts every point`() throws {
        let p = "<trkpt lat=\"1\" lon=\"1\"/>"
        let (points, _) = try read(
            "<gpx><trk><trkseg>\(p)\(p)</trkseg><trkseg/><trkseg><trkpt/>\(p)</trkseg></trk><trk><trkseg>\(p)</trkseg></trk></gpx>"
        )
        #expect(points.map(\.fix.opensSegment) == [true, false, true, false, true])
        #expect(points.map(\.index) == [0, 1, 2, 3, 4])
    }

    @Test func `points before the first time are 1 s apart, and later points without one have none`() throws {
        let p = "<trkpt lat=\"1\" lon=\"1\"/>"
        let timed = "<trkpt lat=\"1\" lon=\"1\"><time>2026-01-01T00:00:00Z</time></trkpt>"
        let (points, _) = try read("<gpx><trk><trkseg>\(p)\(p)\(p)\(timed)\(p)</trkseg></trk></gpx>")
        #expect(
            points.map(\.fix.time)
                == [Self.start, Self.start + 1, Self.start + 2, Date(timeIntervalSince1970: 1_767_225_600), nil]
        )
    }

    @Test(
        arguments: [
            "<trkpt lat=\"2\" lon=\"2\"", "<trkpt lat=\"2\" lon=\"2\"></trkseg>", "<trkpt lat=\"2\" lon=2/>", "&bad;",
            "\u{1}", "",
        ]
    )
    func `points before the damage are kept, and the fault names its line`(end: String) throws {
        let (points, fault) = try read("<gpx><trk><trkseg>\n<trkpt lat=\"1\" lon=\"1\"/>\n\(end)")
        #expect(points.map(\.fix.latitude) == [1])
        #expect(fault?.line == 3)
        guard case .notWellFormed = fault?.kind else {
            Issue.record("\(String(describing: fault))")
            return
        }
        #expect(fault?.description.hasPrefix("\(scratch.file("track.gpx")):3: damaged XML: ") == true)
    }

    @Test(arguments: [("", 1), ("hello", 1), ("\n\nhello", 3)])
    func `content that is not XML is a fault on its line`(content: String, line: Int) throws {
        let (points, fault) = try read(content)
        #expect(points.isEmpty)
        #expect(fault?.line == line)
    }

    @Test(
        arguments: [
            "<!DOCTYPE gpx>", "<!DOCTYPE gpx SYSTEM \"http://127.0.0.1:1/x.dtd\">",
            "<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>",
            "<!DOCTYPE a [<!ATTLIST a b CDATA #IMPLIED>]>",
        ]
    )
    func `any DOCTYPE is refused with its line`(declaration: String) throws {
        let (points, fault) = try read(
            "<?xml version=\"1.0\"?>\n\(declaration)<gpx><trk><trkseg><trkpt lat=\"1\" lon=\"1\"/></trkseg></trk></gpx>"
        )
        #expect(points.isEmpty)
        #expect(fault?.kind == .doctype)
        #expect(fault?.line == 2)
    }

    @Test func `nesting, the text of an element and the length of a tag are limited`() throws {
        let deep = try read("<gpx>" + String(repeating: "<a>", count: 200_000))
        #expect(deep.fault?.kind == .tooDeep(limit: 64))
        #expect(try point("<ele>" + String(repeating: "1", count: 100_000) + "</ele>").altitude == nil)
        let long = try read("<gpx a=\"" + String(repeating: "a", count: 20 << 20) + "\"/>")
        #expect(long.fault?.kind == .tooLong(limit: 8 << 20))
    }

    @Test func `a missing file, a folder and a pipe are refused immediately and without a line`() throws {
        let fifo = scratch.file("fifo")
        #expect(mkfifo(fifo, 0o600) == 0)
        for (path, kind) in [
            (scratch.file("none.gpx"), TrackFault.Kind.unreadable(ENOENT)), (scratch.path, .notRegular),
            (fifo, .notRegular),
        ] {
            let fault = try #require(throws: TrackFault.self) { _ = try GPXReader(path: path, start: Self.start) }
            #expect(fault == TrackFault(path: path, kind: kind))
        }
        #expect(TrackFault(path: "/x", kind: .unreadable(ENOENT)).description == "/x: No such file or directory")
    }
}
