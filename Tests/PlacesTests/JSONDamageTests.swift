import BackgrounderAPI
import TestSupport
import Testing

@testable import Places

@Suite(.computing) struct JSONDamageTests {
    private let rig: ImportRig

    init() throws { rig = try ImportRig() }

    @Test(
        arguments: [
            (#"{"type":"FeatureCollection","features":["#, "file:1: damaged JSON: unexpected end of the file"),
            (#"{"type":"Feature"#, "file:1: damaged JSON: unexpected end of the file"),
            ("{\n\"type\":\n\"Feature\",}", #"file:3: damaged JSON: unexpected "}""#),
            (#"{"type" "Feature"}"#, "file:1: damaged JSON: unexpected \"\"\""),
            (#"{"x":NaN,"type":"Feature"}"#, #"file:1: damaged JSON: unexpected "N""#),
            (#"{"x":01,"type":"Feature"}"#, #"file:1: damaged JSON: unexpected "1""#),
            (#"{"x":-,"type":"Feature"}"#, #"file:1: damaged JSON: unexpected ",""#),
            (#"{"x":1.,"type":"Feature"}"#, #"file:1: damaged JSON: unexpected ",""#),
            (#"{"x":1e,"type":"Feature"}"#, #"file:1: damaged JSON: unexpected ",""#),
            (#"{"x":nul,"type":"Feature"}"#, #"file:1: damaged JSON: unexpected ",""#),
            (#"{"x":"\q","type":"Feature"}"#, "file:1: damaged JSON: an invalid escape sequence in a string"),
            (#"{"x":"\u12G4","type":"Feature"}"#, #"file:1: damaged JSON: unexpected "G""#),
            ("{\"x\":\"a\u{1}\",\"type\":\"Feature\"}", "file:1: damaged JSON: a control character in a string"),
            ("{\"x\":\u{7F}}", "file:1: damaged JSON: unexpected byte 127"),
            (
                ImportRig.feature() + "{}", "file:1: damaged JSON: unexpected data after the end"
            ),
            (
                #"{"x":\#(String(repeating: "1", count: 1_100)),"type":"Feature"}"#,
                "file:1: damaged JSON: a number has more than 1024 digits"
            ),
            (
                #"{"\#(String(repeating: "x", count: 1_100))":1,"type":"Feature"}"#,
                "file:1: a string is longer than 1024 bytes; shorten it"
            ),
        ]
    )
    func `damaged JSON is refused with its line`(document: String, message: String) throws {
        #expect(try rig.refusal(document) == message)
    }

    @Test(arguments: ["[", #"{"a":"#])
    func `a nesting bomb is refused`(opening: String) throws {
        let bomb = #"{"x":"# + String(repeating: opening, count: 1_000_000)
        #expect(try rig.refusal(bomb) == "file:1: damaged JSON: values are nested deeper than 64")
    }

    @Test(arguments: [(63, "accepted"), (64, "file:1: damaged JSON: values are nested deeper than 64")])
    func `values may be nested 64 deep`(count: Int, message: String) throws {
        let arrays = String(repeating: "[", count: count) + String(repeating: "]", count: count)
        let document = "{\"x\":\(arrays)," + ImportRig.feature().dropFirst()
        let path = try rig.scratch.write(document, to: "file")
        #expect(rig.message(path) { path throws(PlaceFileFault) in _ = try PlaceFile.read(path) } == message)
    }

    @Test(arguments: [#""name":"A","x":"#, #""name":"#])
    func `invalid UTF-8 in a string is refused`(start: String) throws {
        let document = ImportRig.collection(ImportRig.feature(properties: start + #""@""#))
        let bytes = document.utf8.map { $0 == UInt8(ascii: "@") ? 0xFF : $0 }
        #expect(try rig.refusal(bytes) == "file:1: feature 1: invalid UTF-8; save the file as UTF-8")
    }

    @Test(arguments: [[0xC3, 0x28], [0xED, 0xA0, 0x80], [0xFF]] as [[UInt8]], [0, 4095, 9_000])
    func `invalid UTF-8 in a string that is skipped is refused, however long it is`(wrong: [UInt8], count: Int) throws {
        let start = #"{"type":"Feature","x":""#.utf8 + Array(repeating: UInt8(ascii: "a"), count: count)
        #expect(try rig.refusal(start + wrong + #""}"#.utf8) == "file:1: invalid UTF-8; save the file as UTF-8")
        let endless = start + [0xE0] + Array(repeating: 0x80, count: 9_000)
        #expect(try rig.refusal(endless) == "file:1: invalid UTF-8; save the file as UTF-8")
    }

    @Test func `a document is read alike wherever the blocks end`() throws {
        let feature = ImportRig.feature(properties: #""name":"é\u00e9😀","id":"x","n":-12.5e+1"#)
        let expected = try rig.places(ImportRig.collection(feature))
        let long = String(repeating: "é", count: 40_000)
        for padding in (ImportLimits.block - feature.utf8.count - 60)..<(ImportLimits.block) {
            let document =
                "{" + String(repeating: " ", count: padding)
                + #""type":"FeatureCollection","features":[\#(feature)],"x":"\#(long)"}"#
            let places = try rig.places(document)
            guard places == expected else { throw TestFailure("padding \(padding): \(places)") }
        }
    }
}
