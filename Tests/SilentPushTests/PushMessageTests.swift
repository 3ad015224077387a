import Foundation
import Testing

@testable import SilentPush

@Suite struct PushMessageTests {
    private static let now = Date(timeIntervalSince1970: 1_795_000_000)

    @Test(arguments: [
        (#"{"content-available":1,"source":"news","id":"7"}"#, nil as String?),
        (#"{"content-available":1.0,"source":"news","id":"7","expires":1795000001}"#, nil),
        (#"{"id":"7","alert":"Rain","source":"news","content-available":1,"url":"http://evil","exec":"rm"}"#, "Rain"),
        (#"{"content-available":1,"source":"news","id":"7","alert":"","expires":null}"#, nil),
    ])
    func `a message that names a source is accepted, and unknown members are ignored`(payload: String, alert: String?)
        throws
    {
        let message = try PushMessage(Array(payload.utf8), now: Self.now)
        #expect(message.source == "news")
        #expect(message.id == "7")
        #expect(message.alert == alert)
    }

    @Test(arguments: [
        ("", PushRejection.malformed), ("x", .malformed), ("[]", .malformed), ("{}", .malformed), ("null", .malformed),
        (#"{"content-available":0,"source":"news","id":"7"}"#, .malformed),
        (#"{"content-available":true,"source":"news","id":"7"}"#, .malformed),
        (#"{"content-available":"1","source":"news","id":"7"}"#, .malformed),
        (#"{"content-available":1e999,"source":"news","id":"7"}"#, .malformed),
        (#"{"source":"news","id":"7"}"#, .malformed), (#"{"content-available":1,"source":"news"}"#, .malformed),
        (#"{"content-available":1,"source":"news","id":7}"#, .malformed),
        (#"{"content-available":1,"source":"news","id":""}"#, .malformed),
        (#"{"content-available":1,"source":["news"],"id":"7"}"#, .malformed),
        (#"{"content-available":1,"source":"news","id":"7","expires":"soon"}"#, .malformed),
        (#"{"content-available":1,"source":"news","id":"7","expires":-1}"#, .malformed),
        (#"{"content-available":1,"source":"news","id":"7","expires":0}"#, .malformed),
        (#"{"content-available":1,"source":"news","id":"7","alert":{"body":"x"}}"#, .malformed),
        (#"{"content-available":1,"source":"news","id":"7","expires":1795000000}"#, .expired),
        (String(repeating: "[", count: 4096), .malformed), (String(repeating: " ", count: 4097), .oversize),
    ])
    func `any other message is refused with its reason`(payload: String, reason: PushRejection) {
        #expect(throws: reason) { try PushMessage(Array(payload.utf8), now: Self.now) }
    }

    @Test func `messages of up to 4096 bytes are accepted, and invalid UTF-8 is refused`() throws {
        let head = #"{"content-available":1,"source":"news","id":"7","alert":""#
        let alert = String(repeating: "x", count: 4096 - head.utf8.count - 2)
        #expect(try PushMessage(Array((head + alert + "\"}").utf8), now: Self.now).alert == alert)
        #expect(throws: PushRejection.oversize) { try PushMessage(Array((head + alert + "x\"}").utf8), now: Self.now) }
        let broken = Array(head.utf8) + [0xC3, 0x28] + Array("\"}".utf8)
        #expect(throws: PushRejection.malformed) { try PushMessage(broken, now: Self.now) }
    }
}
