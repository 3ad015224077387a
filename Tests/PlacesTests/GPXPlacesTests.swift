import BackgrounderAPI
import TestSupport
import Testing

@testable import Places

@Suite(.computing) struct GPXPlacesTests {
    private let rig: ImportRig

    init() throws { rig = try ImportRig() }

    private func gpx(_ inner: String, root: String = "") -> String {
        "<?xml version=\"1.0\"?>\n<gpx version=\"1.1\" \(root)>\n\(inner)</gpx>\n"
    }

    @Test func `waypoints are circles, and their texts are properties`() throws {
        let places = try rig.places(
            gpx(
                """
                <metadata><name>All</name></metadata>
                <wpt lat="52.5" lon="13.4"><ele>30</ele><name>
                  Town &amp; <![CDATA[Hall]]>
                </name><desc>Red &lt;b&gt;</desc><cmt> </cmt><sym>Flag</sym><type>sight</type>
                <link href="x"><text>no</text><type>no</type></link><extensions><name>no</name><type>no</type></extensions></wpt>
                <wpt lon=" -13.4 " lat="-1e1"><name>B</name></wpt>
                <rte><rtept lat="1" lon="2"><name>no</name></rtept></rte>
                <trk><name>no</name><trkseg><trkpt lat="1" lon="2"><name>no</name></trkpt></trkseg></trk>
                """
            )
        )
        #expect(places.map(\.name) == ["Town & Hall", "B"])
        #expect(places.map(\.circle) == [[52.5, 13.4, 50], [-10, -13.4, 50]])
        #expect(places.map(\.properties) == [["desc": "Red <b>", "sym": "Flag", "type": "sight"], [:]])
    }

    @Test func `elements may have a prefix, and those with another one are ignored`() throws {
        let places = try rig.places(
            """
            <g:gpx xmlns:g="http://www.topografix.com/GPX/1/1" xmlns:x="urn:x">
            <g:wpt lat="1" lon="2"><x:name>no</x:name><g:name>A</g:name><x:type>no</x:type></g:wpt><x:wpt lat="9" lon="9"/></g:gpx>
            """
        )
        #expect(places.map(\.name) == ["A"])
        #expect(places.map(\.properties) == [[:]])
    }

    @Test func `a file in another encoding is read`() throws {
        let text =
            "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><gpx><wpt lat=\"1\" lon=\"2\"><name>Gr@n</name></wpt></gpx>"
        #expect(try rig.places(text.utf8.map { $0 == UInt8(ascii: "@") ? 0xFC : $0 }).map(\.name) == ["Grün"])
        let wide = "<gpx><wpt lat=\"1\" lon=\"2\"><name>Ü</name></wpt></gpx>".utf16.flatMap {
            [UInt8($0 & 0xFF), UInt8($0 >> 8)]
        }
        #expect(try rig.places([0xFF, 0xFE] + wide).map(\.name) == ["Ü"])
    }

    @Test(
        arguments: [
            ("lat=\"1\" lon=\"2\"", "", "the name is missing; add a name"),
            ("lat=\"1\" lon=\"2\"", "<name> \n </name>", "the name is missing; add a name"),
            ("lat=\"1\"", "<name>A</name>", "the longitude is missing; add it in degrees"),
            (
                "lat=\"90.1\" lon=\"2\"", "<name>A</name>",
                "the latitude is \"90.1\"; it must be a number from -90 to 90"
            ),
            ("lat=\"NaN\" lon=\"2\"", "<name>A</name>", "the latitude is \"NaN\"; it must be a number from -90 to 90"),
            (
                "lat=\"1\" lon=\"2\"", "<name>B</name>",
                "the name \"B\" is also that of line 3; rename one, or give each an id"
            ),
        ]
    )
    func `a faulty waypoint is refused with its line`(attributes: String, inner: String, message: String) throws {
        let document = gpx("<wpt lat=\"1\" lon=\"2\"><name>B</name></wpt>\n<wpt \(attributes)>\n\(inner)</wpt>")
        #expect(try rig.refusal(document, "a.gpx") == "a.gpx:4: \(message)")
    }

    @Test(
        arguments: [
            ("<gpx>\n<wpt>", "file:2: damaged XML: no element found"),
            ("<gpx>\n</gp>", "file:2: damaged XML: mismatched tag"),
            ("<kml></kml>", "file:1: the root element is \"kml\", not gpx; convert the file to GPX"),
            ("<gpx></gpx>", "file: no waypoints (wpt); add at least one"),
            ("<html></html>", "file:1: an HTML page; open the link in a browser and save the file itself"),
            (
                "<!DOCTYPE html><html></html>",
                "file:1: an HTML page; open the link in a browser and save the file itself"
            ),
            (
                "<!DOCTYPE gpx [<!ENTITY a \"b\">]><gpx><wpt lat=\"1\" lon=\"2\"><name>&a;</name></wpt></gpx>",
                "file:1: a DOCTYPE is refused; remove it"
            ),
            (
                String(repeating: "<gpx>", count: 100_000),
                "file:1: damaged XML: elements are nested deeper than 64"
            ),
            (
                "<gpx><wpt lat=\"1\" lon=\"2\"><name>A</name><desc>" + String(repeating: "x", count: 200_000),
                "file:1: a text is longer than 16384 bytes; shorten it"
            ),
            (
                "<gpx><!--" + String(repeating: "x", count: 10 << 20),
                "file:1: a tag or comment is longer than 8388608 bytes; shorten it"
            ),
        ]
    )
    func `a damaged or foreign document is refused`(document: String, message: String) throws {
        #expect(try rig.refusal(document) == message)
    }

    @Test func `invalid UTF-8 is refused with its line`() throws {
        let bytes = "<gpx>\n<wpt lat=\"1\" lon=\"2\"><name>@</name></wpt></gpx>".utf8.map {
            $0 == UInt8(ascii: "@") ? 0xFF : $0
        }
        #expect(try rig.refusal(bytes) == "file:2: damaged XML: not well-formed (invalid token)")
    }
}
