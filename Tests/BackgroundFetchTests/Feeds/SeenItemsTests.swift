import BackgroundFetch
import BackgrounderAPI
import Foundation
import Testing

@Suite struct SeenItemsTests {
    private func items(_ ids: some Sequence<Int>) -> [FetchItem] { ids.map { FetchItem(id: "item \($0)") } }

    @Test func `every item of the first feed is new, and later only unseen ones are`() {
        var seen = SeenItems()
        #expect(seen.insert(items([3, 1, 2, 1])).map(\.id) == ["item 3", "item 1", "item 2"])
        #expect(seen.insert(items([3, 1, 2])).isEmpty)
        #expect(seen.insert(items([5, 3, 4, 1])).map(\.id) == ["item 5", "item 4"])
    }

    @Test func `items that move, or disappear and return, are not new, even after an empty feed`() {
        var seen = SeenItems()
        _ = seen.insert(items(0..<20))
        let before = seen
        #expect(seen.insert(items((0..<20).reversed())).isEmpty, "the same items are the same value")
        #expect(seen == before, "the same items are the same value")
        for round in [[], [0], [19, 18], [], Array(0..<20)] {
            #expect(seen.insert(items(round)).isEmpty)
        }
    }

    @Test func `seen items are encoded as in earlier versions`() throws {
        var seen = SeenItems()
        _ = seen.insert(items([0]))
        #expect(try JSON.line(seen) == #""9SAc9VXnsT4=""#)
    }

    @Test func `only the present items and the 5000 latest others are remembered`() throws {
        var seen = SeenItems()
        for start in stride(from: 0, to: 20_000, by: 100) { _ = seen.insert(items(start..<start + 100)) }
        #expect(seen.count == 5100)
        #expect(seen.insert(items(14_900..<15_000)).isEmpty)
        #expect(seen.insert(items(0..<1)).count == 1)
        let encoded = try JSON.encode(seen)
        #expect(encoded.count < 60_000)
        #expect(try JSON.decode(SeenItems.self, from: encoded) == seen)
        #expect(throws: DecodingError.self) { try JSON.decode(SeenItems.self, from: Data(#""AAAA""#.utf8)) }
    }
}
