import BackgroundFetch
import BackgrounderAPI
import Foundation
import Synchronization
import SystemSupport
import TestSupport
import Testing
import WebSupport

/// The course of a run and the data that it stores.
@Suite struct FetchRunTests {
    private static let feed =
        #"{"version":"https://jsonfeed.org/version/1.1","title":"t","items":[{"id":"1","title":"One"}"#

    @Test func `a run logs a warning at 25 seconds, is cancelled at 30 and lowers the source's runs per day`()
        async throws
    {
        let rig = try await FetchRig()
        let gate = Gate()
        rig.origin.on("a") { () throws(FetchFailure) in
            await gate.pass()
            throw FetchFailure("it was broken off", kind: .cancelled)
        }
        try await rig.add("a", .minimum)
        let before = try #require(try await rig.scheduler.source("a").runsPerDay)
        async let slow = rig.scheduler.run("a", .simulate)
        try await rig.sleep(until: 25)
        try await rig.sleep(until: 30)
        let run = try await slow
        #expect(run.result == .failed)
        #expect(run.duration == 30.001)
        #expect(run.reason == "the fetch exceeded its budget of 30s and was cancelled")
        #expect(rig.log.messages.contains("a: the fetch has 5 seconds left."))
        #expect(rig.log.messages.suffix(3).first == "a: Failed to fetch new data.")
        #expect(rig.origin.open == 0)
        let after = try #require(try await rig.scheduler.source("a").runsPerDay)
        #expect(after * 2 <= before, "\(before) to \(after)")
        rig.origin.on("a") { FetchReply(.unchanged, status: 304) }
        rig.clock.advance(to: 3 * 86_400)
        for _ in 0..<25 { _ = try await rig.scheduler.run("a", .manual) }
        #expect((try await rig.scheduler.source("a").runsPerDay ?? 0) > before)
    }

    @Test func `a trigger during a run joins it`() async throws {
        let rig = try await FetchRig()
        let gate = Gate()
        rig.origin.on("a") {
            await gate.pass()
            return FetchReply(.unchanged, status: 304)
        }
        try await rig.add("a")
        async let first = rig.scheduler.run("a", .manual)
        try await rig.origin.wait(forRequests: 1)
        #expect(try await rig.scheduler.source("a").pending?.id == 1)
        async let second = rig.scheduler.run("a", .push)
        async let third = rig.scheduler.run("a", .simulate)
        _ = try await rig.scheduler.source("a")
        gate.open()
        let ids = try await [first.id, second.id, third.id]
        #expect(ids[0] == 1)
        #expect(rig.runs.count == Set(ids).count)
    }

    @Test func `each result is logged with its duration and the name of its source`() async throws {
        let rig = try await FetchRig()
        for name in ["new", "none", "bad"] { try await rig.add(name) }
        rig.origin.on("none") { FetchReply(.unchanged, status: 304) }
        rig.origin.on("bad") { () throws(FetchFailure) in throw FetchFailure("why\u{1B}[31m\n") }
        for name in ["new", "none", "bad"] { _ = try await rig.scheduler.run(name, .manual) }
        #expect(
            rig.log.messages == [
                "new: New data was fetched.", "new: Background Fetch Duration: 0.000000 seconds",
                "none: No new data found.", "none: Background Fetch Duration: 0.000000 seconds",
                "bad: Failed to fetch new data.", "bad: Background Fetch Duration: 0.000000 seconds",
                "bad: why\u{FFFD}[31m\u{FFFD}",
            ]
        )
    }

    @Test func `a source tells why its last run failed, also after a restart, until a run succeeds`() async throws {
        let rig = try await FetchRig()
        try await rig.add("a")
        rig.origin.on("a") { () throws(FetchFailure) in throw FetchFailure("why\u{1B}[31m") }
        _ = try await rig.scheduler.run("a", .manual)
        #expect(try await rig.scheduler.source("a").lastError == "why\u{FFFD}[31m")
        rig.origin.on("a") { () throws(FetchFailure) in throw FetchFailure("no route", kind: .offline) }
        _ = try await rig.scheduler.run("a", .manual)
        rig.origin.on("a") { () throws(FetchFailure) in throw FetchFailure("it was broken off", kind: .cancelled) }
        _ = try await rig.scheduler.run("a", .manual)
        let next = try await FetchRig(journal: rig.journal)
        #expect(try await next.scheduler.source("a").lastError == "no route")
        next.origin.on("a") { FetchReply(.unchanged, status: 304) }
        _ = try await next.scheduler.run("a", .manual)
        #expect(try await next.scheduler.source("a").lastError == nil)
    }

    @Test func `unchanged bytes and known items are not new data, and validators survive a restart`() async throws {
        let rig = try await FetchRig()
        _ = try await rig.scheduler.add(FetchDefinition(name: "feed", url: "http://a/"))
        func give(_ items: String) {
            let bytes = Data((Self.feed + items + "]}").utf8)
            rig.origin.on("feed") {
                let validators = FetchValidators(url: "http://a/", entityTag: "\"\(items.count)\"", lastModified: nil)
                return FetchReply(
                    .content(bytes, mediaType: nil),
                    status: 200,
                    bytes: bytes.count,
                    validators: validators
                )
            }
        }
        give("")
        #expect(try await rig.scheduler.run("feed", .manual).result == .newData)
        #expect(try await rig.scheduler.run("feed", .manual).result == .noData)
        give(#",{"id":"2","title":"Two"},{"id":"3"}"#)
        #expect(try await rig.scheduler.run("feed", .manual).result == .newData)
        #expect(try await rig.scheduler.source("feed").unseen == 3)
        // The items disappear, and return in another order.
        give("")
        #expect(try await rig.scheduler.run("feed", .manual).result == .noData)
        give(#",{"id":"3"},{"id":"2","title":"Two"}"#)
        #expect(try await rig.scheduler.run("feed", .manual).result == .noData)
        #expect(rig.journal.contents["feed"]?.items.map(\.id) == ["1", "3", "2"])
        // The validators belong to the stored content, also after a restart.
        let again = try await FetchRig(journal: rig.journal)
        again.origin.on("feed") { FetchReply(.unchanged, status: 304) }
        _ = try await again.scheduler.run("feed", .manual)
        #expect(again.origin.asked.last?.validators?.entityTag == "\"36\"")
        _ = try await again.scheduler.clear("feed")
        _ = try await again.scheduler.run("feed", .manual)
        #expect(again.origin.asked.last?.validators == nil)
    }

    @Test func `a reply that is not a feed fails the run and keeps the previous content`() async throws {
        let rig = try await FetchRig()
        _ = try await rig.scheduler.add(FetchDefinition(name: "feed", url: "http://a/"))
        rig.origin.on("feed") { FetchReply(.content(Data((Self.feed + "]}").utf8), mediaType: nil), status: 200) }
        _ = try await rig.scheduler.run("feed", .manual)
        rig.origin.on("feed") { FetchReply(.content(Data("<html></html>".utf8), mediaType: nil), status: 200) }
        let run = try await rig.scheduler.run("feed", .manual)
        #expect(run.result == .failed)
        #expect(run.reason?.contains("not a feed but an HTML page") == true)
        #expect(rig.journal.contents["feed"]?.items.map(\.id) == ["1"])
        #expect(try await rig.scheduler.source("feed").unseen == 1)
    }

    @Test func `a full disk fails runs without losing data, and no fetch starts until it can be recorded`() async throws
    {
        let rig = try await FetchRig()
        try await rig.add("a", .custom(600))
        let gate = Gate()
        rig.origin.on("a") {
            await gate.pass()
            return FetchReply(.content(Data("x".utf8), mediaType: nil), status: 200, validators: nil)
        }
        async let run = rig.scheduler.run("a", .manual)
        try await rig.origin.wait(forRequests: 1)
        rig.journal.refuse("database or disk is full")
        gate.open()
        #expect(try await run.result == .failed)
        #expect(try await run.reason == "Couldn't save data: database or disk is full")
        #expect(rig.log.messages.first?.hasPrefix("a: Couldn't save data.") == true)
        var source = try await rig.scheduler.source("a")
        #expect(source.unseen == 0)
        #expect(source.updated == nil)
        #expect(rig.seconds(source.next) == 600)
        // A run that cannot be recorded does not begin.
        #expect(try await rig.scheduler.run("a", .manual).result == .failed)
        #expect(rig.origin.asked.count == 1)
        rig.journal.refuse(nil)
        #expect(try await rig.scheduler.run("a", .manual).result == .newData)
        source = try await rig.scheduler.source("a")
        #expect(source.unseen == 1)
        #expect(rig.journal.saved.openRuns.isEmpty)
    }

    @Test func `a run interrupted by a crash is closed at the restart, and the interval still applies`() async throws {
        let rig = try await FetchRig()
        let gate = Gate()
        rig.origin.on("a") {
            await gate.pass()
            return FetchReply(.unchanged, status: 304)
        }
        try await rig.add("a", .custom(3600))
        let run = Task { [rig] in try await rig.scheduler.run("a", .manual) }
        try await rig.origin.wait(forRequests: 1)
        let again = try await FetchRig(journal: rig.journal)
        #expect(again.journal.saved.openRuns.isEmpty)
        #expect(again.seconds(try await again.scheduler.source("a").next) == 3600)
        #expect(try await again.scheduler.run("a", .manual).id == 2)
        gate.open()
        _ = try await run.value
    }

    @Test func `removing a source cancels its run`() async throws {
        let rig = try await FetchRig()
        let gate = Gate()
        rig.origin.on("a") { () throws(FetchFailure) in
            await gate.pass()
            throw FetchFailure("it was broken off", kind: .cancelled)
        }
        try await rig.add("a")
        async let run = rig.scheduler.run("a", .manual)
        try await rig.origin.wait(forRequests: 1)
        try await rig.scheduler.remove("a")
        #expect(try await run.reason == "the source was removed during the fetch")
        #expect(await rig.scheduler.list().isEmpty)
        #expect(rig.origin.open == 0)
        await #expect(throws: FetchError.noSuchSource("a")) { try await rig.scheduler.run("a", .manual) }
    }

    @Test func `a source added during the run of a removed one with its name starts fresh`() async throws {
        let rig = try await FetchRig()
        let gate = Gate()
        rig.origin.on("a") {
            // In a task of its own, so that the run's cancellation does not end the wait.
            await Task { await gate.pass() }.value
            return FetchReply(.content(Data("old".utf8), mediaType: nil), status: 200, bytes: 3)
        }
        try await rig.add("a")
        async let run = rig.scheduler.run("a", .manual)
        try await rig.origin.wait(forRequests: 1)
        async let removal: Void = rig.scheduler.remove("a")
        try await rig.wait(forRemovalOf: "a")
        try await rig.add("a")
        async let next = rig.scheduler.run("a", .manual)
        #expect(try await rig.scheduler.source("a").pending == nil)
        gate.open()
        try await removal
        #expect(try await run.reason == "the source was removed during the fetch")
        #expect(try await next.id == 2)
        #expect(try await next.result == .newData)
        let source = try await rig.scheduler.source("a")
        #expect(source.unseen == 1)
        #expect(rig.origin.asked.count == 2)
    }

    @Test func `enclosures of new items are handed over once`() async throws {
        let rig = try await FetchRig()
        _ = try await rig.scheduler.add(FetchDefinition(name: "cast", url: "http://a/", download: "/d"))
        let item = #","attachments":[{"url":"http://a/1.mp3","mime_type":"audio/mpeg"}]}]}"#
        rig.origin.on("cast") {
            FetchReply(.content(Data((Self.feed.dropLast() + item).utf8), mediaType: nil), status: 200)
        }
        _ = try await rig.scheduler.run("cast", .manual)
        _ = try await rig.scheduler.run("cast", .manual)
        _ = try await rig.scheduler.open("cast")
        #expect(rig.handedOver.withLock { $0 } == [["http://a/1.mp3"]])
        #expect(rig.journal.saved.sources[0].state.downloads.isEmpty)
    }

    @Test(arguments: [(AddressScope.global, URLNamer.server), (.local, .user)])
    func `enclosures are trusted as much as the server that named them`(scope: AddressScope, namer: URLNamer)
        async throws
    {
        let rig = try await FetchRig()
        _ = try await rig.scheduler.add(FetchDefinition(name: "cast", url: "http://a/", download: "/d"))
        let item = #"{"id":"1","attachments":[{"url":"http://a/1","mime_type":"a/b"}]}"#
        let feed = #"{"version":"https://jsonfeed.org/version/1.1","items":[\#(item)]}"#
        rig.origin.on("cast") { FetchReply(.content(Data(feed.utf8), mediaType: nil), status: 200, scope: scope) }
        _ = try await rig.scheduler.run("cast", .manual)
        try await rig.wait(forEnclosures: 1)
        #expect(rig.namers.withLock { $0 } == [namer])
    }

    @Test func `a feed with too many entries is read up to the limit, and the run and the log say so`() async throws {
        let rig = try await FetchRig()
        _ = try await rig.scheduler.add(FetchDefinition(name: "long", url: "http://a/"))
        let items = (1...5001).map { #"{"id":"\#($0)"}"# }.joined(separator: ",")
        let feed = #"{"version":"https://jsonfeed.org/version/1.1","items":[\#(items)]}"#
        rig.origin.on("long") { FetchReply(.content(Data(feed.utf8), mediaType: nil), status: 200) }
        let run = try await rig.scheduler.run("long", .manual)
        let note = "The feed has more than 5000 entries; the first 5000 were read"
        #expect(run.result == .newData)
        #expect(run.note == note)
        #expect(run.reason == nil)
        #expect(run.lines.last == note)
        #expect(rig.log.messages.contains("long: \(note)"))
        #expect(try await rig.scheduler.source("long").unseen == 5000)
    }

    @Test(
        arguments: [
            ("\"1\"", nil, "\"1\"", "then"), (nil, "now", "\"1\"", "now"), ("\"1\"", "now", "\"1\"", "now"),
            ("\"2\"", nil, "\"2\"", nil),
        ] as [(String?, String?, String?, String?)]
    )
    func `a 304 replaces the validators that it repeats and keeps the others`(
        tag: String?,
        modified: String?,
        keptTag: String?,
        keptModified: String?
    ) async throws {
        let rig = try await FetchRig()
        try await rig.add("a")
        let url = "http://a/"
        rig.origin.on("a") {
            let validators = FetchValidators(url: url, entityTag: "\"1\"", lastModified: "then")
            return FetchReply(.content(Data("x".utf8), mediaType: nil), status: 200, validators: validators)
        }
        _ = try await rig.scheduler.run("a", .manual)
        rig.origin.on("a") {
            let validators = FetchValidators(url: url, entityTag: tag, lastModified: modified)
            return FetchReply(.unchanged, status: 304, validators: validators)
        }
        _ = try await rig.scheduler.run("a", .manual)
        let kept = FetchValidators(url: url, entityTag: keptTag, lastModified: keptModified)
        #expect(rig.journal.saved.sources[0].state.validators == kept)
    }

    @Test func `at most 1000 enclosures wait, each once, and the number of skipped ones is logged`()
        async throws
    {
        let rig = try await FetchRig()
        _ = try await rig.scheduler.add(FetchDefinition(name: "cast", url: "http://a/", download: "/d"))
        let items = (1...1200).map {
            #"{"id":"\#($0)","attachments":[{"url":"http://a/\#($0 % 1100)","mime_type":"a/b"}]}"#
        }
        let feed = #"{"version":"https://jsonfeed.org/version/1.1","items":[\#(items.joined(separator: ","))]}"#
        rig.origin.on("cast") { FetchReply(.content(Data(feed.utf8), mediaType: nil), status: 200) }
        #expect(try await rig.scheduler.run("cast", .manual).result == .newData)
        try await rig.wait(forEnclosures: 1000)
        #expect(Set(rig.handedOver.withLock { $0.joined() }).count == 1000)
        #expect(rig.log.messages.contains("cast: Skipped 100 enclosures; too many are already waiting"))
    }

    @Test(arguments: [
        FetchDefinition(name: "", url: "http://a/"), FetchDefinition(name: "a b", url: "http://a/"),
        FetchDefinition(name: "-a", url: "http://a/"), FetchDefinition(name: "a/b", url: "http://a/"),
        FetchDefinition(name: "a\u{202E}", url: "http://a/"),
        FetchDefinition(name: String(repeating: "a", count: 65), url: "http://a/"), FetchDefinition(name: "a"),
        FetchDefinition(name: "a", url: "http://a/", command: ["b"]), FetchDefinition(name: "a", command: []),
        FetchDefinition(name: "a", url: "ftp://a/"), FetchDefinition(name: "a", url: "file:///etc/passwd"),
        FetchDefinition(name: "a", url: "http:///x"), FetchDefinition(name: "a", url: "http://a:99999/"),
        FetchDefinition(name: "a", url: "http://u:p@a/"), FetchDefinition(name: "a", url: "http://a/ b"),
        FetchDefinition(name: "a", url: "http+unix://a/"), FetchDefinition(name: "a", url: "http://[::1/"),
        FetchDefinition(name: "a", url: "http://a/", interval: .custom(59)),
        FetchDefinition(name: "a", url: "http://a/", interval: .custom(.nan)),
        FetchDefinition(name: "a", url: "http://a/", budget: 30.1),
        FetchDefinition(name: "a", url: "http://a/", budget: 0),
        FetchDefinition(name: "a", url: "http://a/", budget: .nan),
        FetchDefinition(name: "a", url: "http://a/", kind: .raw, download: "/d"),
        FetchDefinition(name: "a", url: "http://a/", download: "d"),
        FetchDefinition(name: "a", command: ["true"], directory: "d"),
    ])
    func `an invalid definition is refused with a reason`(definition: FetchDefinition) async throws {
        let rig = try await FetchRig()
        do {
            _ = try await rig.scheduler.add(definition)
            Issue.record("\(definition) was accepted")
        } catch {
            #expect("\(error)".count > 15)
            #expect("\(error)".withoutControlCharacters == "\(error)")
        }
        #expect(await rig.scheduler.list().isEmpty)
    }
}
