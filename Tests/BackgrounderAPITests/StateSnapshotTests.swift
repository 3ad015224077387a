import BackgrounderAPI
import Testing

@Suite struct StateSnapshotTests {
    @Test func `Of many transfers those that move are shown, and the oldest`() {
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
