import BackgroundFetch
import BackgrounderAPI
import Foundation
import Testing

@Suite struct SeenItemsTests {
    private func items(_ ids: some Sequence<Int>) -> [FetchItem] { ids.map { FetchItem(id: "item \($0)") } }

    @Test("All of a first feed is new, in its order; then only what is")
    func new() {
        var seen = SeenItems()
        #expect(seen.take(items([3, 1, 2, 1])).map(\.id) == ["item 3", "item 1", "item 2"])
        #expect(seen.take(items([3, 1, 2])).isEmpty)
        #expect(seen.take(items([5, 3, 4, 1])).map(\.id) == ["item 5", "item 4"])
    }

    @Test("Items that change places, leave and return are not new, and an empty feed makes nothing forgotten")
    func returning() {
        var seen = SeenItems()
        _ = seen.take(items(0..<20))
        let before = seen
        #expect(seen.take(items((0..<20).reversed())).isEmpty && seen == before, "the same items are the same value")
        for round in [[], [0], [19, 18], [], Array(0..<20)] {
            #expect(seen.take(items(round)).isEmpty)
        }
    }

    @Test func `What was kept by versions before is known again`() throws {
        var seen = SeenItems()
        _ = seen.take(items([0]))
        #expect(try JSON.line(seen) == #""9SAc9VXnsT4=""#)
    }

    @Test("It stays small: beside the present items, 5000 are remembered")
    func bound() throws {
        var seen = SeenItems()
        for start in stride(from: 0, to: 20_000, by: 100) { _ = seen.take(items(start..<start + 100)) }
        #expect(seen.count == 5100)
        #expect(seen.take(items(14_900..<15_000)).isEmpty && seen.take(items(0..<1)).count == 1)
        let encoded = try JSON.encode(seen)
        #expect(encoded.count < 60_000)
        #expect(try JSON.decode(SeenItems.self, from: encoded) == seen)
        #expect(throws: DecodingError.self) { try JSON.decode(SeenItems.self, from: Data(#""AAAA""#.utf8)) }
    }
}
