import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import StateStore

struct PositionFileTests {
    private static let position = PlayerPosition(generation: 7, itemID: 3, elapsed: 12.5)

    @Test func `the last saved position is restored when the store is opened again`() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        #expect(store.position() == nil)
        try store.save(PlayerPosition(generation: 7, itemID: 3, elapsed: 12))
        try store.save(Self.position)
        #expect(try fixture.open().position() == Self.position)
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path + "-position")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(attributes[.size] as? Int == 32)
    }

    @Test(arguments: [0, 9, 31])
    func `a truncated or altered position is ignored`(byte: Int) throws {
        let fixture = try StoreFixture()
        try fixture.open().save(Self.position)
        let url = URL(fileURLWithPath: fixture.path + "-position")
        let good = try Data(contentsOf: url)
        var damaged = good
        damaged[byte] ^= 1
        try damaged.write(to: url)
        #expect(try fixture.open().position() == nil)
        try good.prefix(byte).write(to: url)
        #expect(try fixture.open().position() == nil)
    }

    @Test func `a failed write is an error that names the file`() throws {
        let file = try PositionFile(path: "/dev/full")
        let error = #expect(throws: StateStoreError.self) { try file.write(Self.position) }
        #expect(error?.description.contains("/dev/full") == true)
        #expect(throws: StateStoreError.self) { try PositionFile(path: "/no/such/folder/position") }
    }

    @Test func `a failing position file is a problem until a position is saved, whatever is synced meanwhile`()
        async throws
    {
        let fixture = try StoreFixture()
        let changes = Signal()
        let store = try StateStore(path: fixture.path, syncInterval: .zero, retention: .seconds(86_400)) { _ in
            changes.post()
        }
        let file = try #require(openFile(fixture.path + "-position"))
        let copy = dup(file)
        defer { close(copy) }
        // Writes to this descriptor fail now, with "no space left".
        let full = open("/dev/full", O_RDWR | O_CLOEXEC)
        dup2(full, file)
        close(full)
        #expect(throws: StateStoreError.self) { try store.save(Self.position) }
        #expect(store.problems.map(\.kind) == [.diskFull])
        let synced = try LogSyncs(of: store)
        try await store.save(.sample, durable: true)
        try await synced.signal.wait(for: "sync") { synced.count > 1 ? () : nil }
        #expect(store.problems.map(\.kind) == [.diskFull])
        dup2(copy, file)
        try await changes.wait(for: "end of the problem") { store.problems.isEmpty ? () : nil }
        #expect(store.position() == Self.position)
        try store.close()
    }

    /// Returns the descriptor of this process with the file at `path`.
    private func openFile(_ path: String) -> CInt? {
        (0..<4096).first { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path }
    }

    @Test func `a damaged database is moved aside together with its position file`() throws {
        let fixture = try StoreFixture()
        try fixture.open().save(Self.position)
        try Data("no database at all, and long enough to be one".utf8).write(to: URL(fileURLWithPath: fixture.path))
        let store = try fixture.open()
        #expect(store.movedAside != nil)
        #expect(store.position() == nil)
        #expect(try fixture.files().contains { $0.contains(".corrupt-") && $0.hasSuffix("-position") })
    }
}
