import BackgrounderAPI
import Testing

@Suite struct StateSnapshotTests {
    @Test func `of many transfers, the running and the oldest ones are shown`() {
        let transfers = (1...1000).map { id in
            Transfer(
                id: id,
                session: "default",
                direction: .get,
                url: "https://example.org/\(id)",
                destination: "/downloads/\(id)",
                state: id == 500 ? .running : .queued
            )
        }
        #expect(StateSnapshot.shown(transfers).map(\.id) == Array(1...99) + [500])
        #expect(StateSnapshot.shown(Array(transfers.prefix(100))) == Array(transfers.prefix(100)))
    }
}
