import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import StateStore

struct PositionFileTests {
    private static let position = PlayerPosition(generation: 7, itemID: 3, elapsed: 12.5)

    @Test func `The position that was kept last is there for whoever opens the store next`() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        #expect(store.position() == nil)
        try store.keep(PlayerPosition(generation: 7, itemID: 3, elapsed: 12))
        try store.keep(Self.position)
        #expect(try fixture.open().position() == Self.position)
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path + "-position")
        #expect(attributes[.posixPermissions] as? Int == 0o600 && attributes[.size] as? Int == 32)
    }

    @Test(arguments: [0, 9, 31])
    func `Half a position, or one with a changed byte, is none`(byte: Int) throws {
        let fixture = try StoreFixture()
        try fixture.open().keep(Self.position)
        let url = URL(fileURLWithPath: fixture.path + "-position")
        let good = try Data(contentsOf: url)
        var damaged = good
        damaged[byte] ^= 1
        try damaged.write(to: url)
        #expect(try fixture.open().position() == nil)
        try good.prefix(byte).write(to: url)
        #expect(try fixture.open().position() == nil)
    }

    @Test func `A disk that takes nothing is an error with the file's name`() throws {
        let file = try PositionFile(path: "/dev/full")
        let error = #expect(throws: StateStoreError.self) { try file.write(Self.position) }
        #expect(error?.description.contains("/dev/full") == true)
        #expect(throws: StateStoreError.self) { try PositionFile(path: "/no/such/folder/position") }
    }

    @Test func `A damaged database takes its position along`() throws {
        let fixture = try StoreFixture()
        try fixture.open().keep(Self.position)
        try Data("no database at all, and long enough to be one".utf8).write(to: URL(fileURLWithPath: fixture.path))
        let store = try fixture.open()
        #expect(store.movedAside != nil && store.position() == nil)
        #expect(try fixture.files().contains { $0.contains(".corrupt-") && $0.hasSuffix("-position") })
    }
}
