import BackgrounderAPI
import TestSupport
import Testing

@testable import BackgroundTransfers

/// Sessions that the configuration declares.
@Suite struct DeclaredSessionTests {
    @Test func `a declared session has defaults for its transfers, and exists before the first one`() async throws {
        let rig = try TransferRig(conditions: FixedConditions(.power))
        rig.server.reply(to: "/x", body: "hello")
        let maps = SessionDefinition(name: "maps", discretionary: true, exists: .rename, sizeMax: 3)
        await rig.transfers.declare([maps])
        #expect(try await rig.transfers.events(of: "maps").isEmpty)
        #expect(try await rig.transfers.acknowledge("maps", through: 1).isEmpty)
        let listed = try await rig.transfers.sessions()
        #expect(listed.map(\.name) == ["maps"])
        #expect(listed.map(\.declared) == [true])
        #expect(listed.map(\.exists) == [.rename])
        func add(_ name: String, discretionary: Bool? = nil, sizeMax: Int64? = nil) async throws -> Transfer {
            try await rig.transfers.add(
                TransferRequest(
                    url: rig.server.url("/x"),
                    destination: "\(rig.root)/\(name)",
                    session: "maps",
                    sizeMax: sizeMax,
                    discretionary: discretionary
                )
            )
        }
        #expect(try await add("a").discretionary)
        // The limit of the session, and that of the request.
        #expect(try await rig.end(try await add("b", discretionary: false).id).state == .failed)
        #expect(try await rig.end(try await add("c", discretionary: false, sizeMax: 10).id).state == .done)
        // An existing file does not fail the transfer.
        #expect(try await rig.end(try await add("c", discretionary: false, sizeMax: 10).id).state == .done)
        #expect(rig.names.filter { $0.hasPrefix("c") }.count == 2)
        await rig.transfers.declare([])
        #expect(try await rig.transfers.sessions().map(\.declared) == [false])
        await #expect(throws: TransferError.self) { _ = try await add("c") }
    }
}
