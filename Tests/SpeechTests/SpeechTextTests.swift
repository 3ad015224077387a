import Testing

@testable import Speech

/// What the renderer gets of a text.
@Suite struct SpeechTextTests {
    @Test(arguments: [
        ("Next stop: Harbour", "Next stop: Harbour"), ("  a \n", "a"), ("a\nb\r\nc\td", "a b  c d"),
        ("a\0b\u{1}c\u{1B}[31m\u{7F}\u{9B}", "abc[31m"), ("a\u{2028}b", "a b"), ("\"'$(x)`\\", "\"'$(x)`\\"),
        ("-w /etc/x", "-w /etc/x"), ("<speak>Hi</speak>", "<speak>Hi</speak>"), ("👩‍🚀 é", "👩‍🚀 é"),
        ("[[h@loU]] [[[x", "[ [h@loU]] [ [ [x"),
    ])
    func `control characters and phoneme codes are removed, and nothing else`(text: String, content: String) throws {
        #expect(try SpeechText(text).content == content)
    }

    @Test(arguments: ["", " ", "\n\t ", "\0\u{1}", "\u{2029}"])
    func `a text without content is refused`(text: String) {
        #expect(throws: SpeechError.text("it is empty")) { try SpeechText(text) }
    }

    @Test func `a text has at most 2000 bytes`() throws {
        #expect(try SpeechText(String(repeating: "é", count: 1000)).content.utf8.count == 2000)
        #expect(throws: SpeechError.text("it has 2001 bytes, more than 2000")) {
            try SpeechText(String(repeating: "é", count: 1000) + "x")
        }
    }

    @Test func `a refused text is reported to the caller`() async throws {
        let rig = try await SpeechRig()
        let cache = rig.cache()
        #expect(
            await cache.error(for: String(repeating: "x", count: 10_000))?.description
                == "cannot speak the text: it has 10000 bytes, more than 2000"
        )
        #expect(await cache.error(for: " ")?.description == "cannot speak the text: it is empty")
        #expect(rig.texts.isEmpty)
    }
}
