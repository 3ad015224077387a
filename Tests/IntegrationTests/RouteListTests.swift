import Foundation
import TestSupport
import Testing

/// The routes of the sources are those of Packaging/openapi.yaml.
@Suite struct RouteListTests {
    @Test func `every route is described, and no others are`() throws {
        let interface = try OpenAPI(contentsOf: Products.repository("Packaging/openapi.yaml"))
        let folder = Products.repository("Sources/BackgrounderAPI/Routes")
        let source = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasPrefix("Route") && $0.hasSuffix(".swift") }
            .map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }.joined()
        let calls = source.matches(of: /\(\s*\.(get|post|put|patch|delete),\s*"(\/v1[^"]*)"/)
            .map { "\($0.output.1.uppercased()) \($0.output.2)" }
        let streams = source.matches(of: /Path = "(\/[^"]*)"/).map { "GET \($0.output.1)" }
        #expect(calls.count > 20)
        #expect(streams.count == 6)
        #expect(Set(calls + streams) == Set(interface.operations.map { "\($0.method) \($0.path)" }))
    }
}
