import BackgrounderAPI
import Foundation
import NIOHTTP1
import TestSupport
import Testing

@testable import BackgroundTransfers

/// How the head of a reply to a range request is judged.
@Suite struct RangeReplyTests {
    private static let now = Date(timeIntervalSince1970: 1_763_708_149)

    private static func reply(
        _ status: UInt,
        _ headers: [(String, String)],
        offset: Int64 = 100,
        total: Int64? = 200,
        validator: EntityValidator? = .etag("\"a\"")
    ) -> RangeReply {
        RangeReply(
            status: status,
            headers: HTTPHeaders(headers),
            offset: offset,
            total: total,
            validator: validator,
            now: now
        )
    }

    @Test(arguments: [
        "bytes 99-199/200", "bytes 101-199/200", "bytes 100-199/201", "bytes 100-200/200", "bytes 100-99/200",
        "bytes 100-199/*",
        "bytes */200", "bytes=100-199/200", "octets 100-199/200", "bytes 100-199", "bytes -1-199/200",
        "bytes +100-199/200",
        "bytes 100-199/99999999999999999999", "", "bytes 0-199/200",
    ]) func `a partial reply is used only if it begins at the requested offset and has the same total`(range: String) {
        let good = [("ETag", "\"a\""), ("Content-Range", "bytes 100-199/200")]
        #expect(Self.reply(206, good) == .rest(end: 200, total: 200))
        #expect(
            Self.reply(206, [good[0], ("Content-Range", "bytes 100-149/200")]) == .rest(end: 150, total: 200)
        )
        #expect(Self.reply(206, good, total: nil) == .rest(end: 200, total: 200))
        guard case .stale = Self.reply(206, [("ETag", "\"a\""), ("Content-Range", range)]) else {
            Issue.record("\(range) was accepted")
            return
        }
    }

    @Test func `a partial reply of another or an unidentified version is stale`() {
        let range = ("Content-Range", "bytes 100-199/200")
        let time = "Fri, 21 Nov 2025 00:00:00 GMT"
        for headers in [
            [range], [range, ("ETag", "\"b\"")], [range, ("ETag", "W/\"a\"")], [range, range, ("ETag", "\"a\"")],
        ] {
            guard case .stale = Self.reply(206, headers) else {
                Issue.record("\(headers) was accepted")
                continue
            }
        }
        #expect(
            Self.reply(206, [range, ("Last-Modified", time)], validator: .modified(time)) == .rest(end: 200, total: 200)
        )
        guard case .stale = Self.reply(206, [range], validator: .modified(time)) else {
            Issue.record("a part without its time was accepted")
            return
        }
        guard case .stale = Self.reply(206, [range, ("ETag", "\"a\""), ("Content-Length", "99")]) else {
            Issue.record("a part with another length was accepted")
            return
        }
    }

    @Test func `only strong validators are kept`() {
        let date = ("Date", "Fri, 21 Nov 2025 06:55:49 GMT")
        let cases: [([(String, String)], EntityValidator?)] = [
            ([("ETag", "\"a\"")], .etag("\"a\"")), ([("ETag", "W/\"a\"")], nil), ([("ETag", "a")], nil),
            ([("Last-Modified", "Fri, 21 Nov 2025 06:54:49 GMT"), date], .modified("Fri, 21 Nov 2025 06:54:49 GMT")),
            ([("Last-Modified", "Fri, 21 Nov 2025 06:54:50 GMT"), date], nil),
            ([("Last-Modified", "Fri, 21 Nov 2025 06:54:49 GMT")], nil), ([("Last-Modified", "0"), date], nil),
            ([], nil),
        ]
        for (headers, validator) in cases {
            let reply = Self.reply(200, headers + [("Content-Length", "7")], offset: 0, total: nil, validator: nil)
            #expect(reply == .whole(total: 7, validator))
        }
    }

    @Test func `a 416 with the same length means complete, and any other is stale`() {
        #expect(Self.reply(416, [("Content-Range", "bytes */100")], offset: 100, total: 100) == .complete)
        for (range, total) in [("bytes */99", 100), ("bytes */100", nil), ("bytes */*", 100), ("", 100)]
            as [(String, Int64?)]
        {
            guard case .stale = Self.reply(416, [("Content-Range", range)], offset: 100, total: total) else {
                Issue.record("\(range) with \(String(describing: total)) was accepted as complete")
                continue
            }
        }
    }
}

/// Power, network and load, read from files like those of the kernel.
@Suite struct LinuxConditionsTests {
    @Test(
        arguments: [
            ([:], ["eth0"], "0.10", nil),
            (["AC/type": "Mains", "AC/online": "1", "B/type": "Battery", "B/capacity": "3"], ["eth0"], "0.1", nil),
            (
                [
                    "AC/type": "Mains", "AC/online": "0", "B/type": "Battery", "B/capacity": "39",
                    "B/status": "Discharging",
                ], ["eth0"], "0.1", .power
            ),
            (
                [
                    "AC/type": "Mains", "AC/online": "0", "B/type": "Battery", "B/capacity": "40",
                    "B/status": "Discharging",
                ], ["eth0"], "0.1", nil
            ),
            (["B/type": "Battery", "B/capacity": "5", "B/status": "Charging"], ["eth0"], "0.1", nil),
            (["M/type": "Battery", "M/capacity": "5", "M/scope": "Device"], ["eth0"], "0.1", nil),
            (["B/type": "Battery", "B/capacity": "x"], [], "0.1", nil), ([:], ["wwan0"], "0.1", .network),
            ([:], ["ppp0", "usb0"], "0.1", .network),
            ([:], ["wwan0", "wlan0"], "0.1", nil), ([:], ["eth0"], "100.00", .limiter), ([:], ["eth0"], "", nil),
        ] as [([String: String], [String], String, TransferWait?)]
    )
    func `a discretionary transfer waits for power, an unmetered network and a calm machine`(
        files: [String: String],
        ways: [String],
        load: String,
        expected: TransferWait?
    ) throws {
        let scratch = try ScratchDirectory()
        for (name, content) in files {
            let folder = scratch.file("power/" + name.prefix { $0 != "/" })
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try scratch.write(content + "\n", to: "power/" + name)
        }
        try scratch.write("\(load) 0.2 0.3 1/100 1\n", to: "load")
        let conditions = LinuxConditions(power: scratch.file("power"), load: scratch.file("load")) { ways }
        #expect(conditions.obstacle() == expected)
    }
}
