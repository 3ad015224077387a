import BackgrounderAPI
import Foundation
import StateStore
import SystemSupport
import TestSupport
import Testing

@testable import BackgrounderDaemon

@Suite struct TrackImportsTests {
    private let scratch: ScratchDirectory
    private let store: StateStore
    private let file: String

    init() throws {
        scratch = try ScratchDirectory()
        store = try StateStore(
            path: scratch.file("a.sqlite"),
            syncInterval: .seconds(1),
            retention: .seconds(86_400)
        ) { _ in }
        let points = (0..<5000).map { index in
            let time = ISO8601.string(Date(timeIntervalSince1970: Double(index)))
            return "<trkpt lat=\"\(Double(index) * 0.0001)\" lon=\"8\"><time>\(time)</time></trkpt>"
        }
        file = try scratch.write("<gpx><trk><trkseg>\(points.joined())</trkseg></trk></gpx>", to: "a.gpx")
    }

    private func refusal(_ request: ImportRequest, by imports: TrackImports) async -> WireError.Code? {
        do throws(WireError) {
            _ = try await imports.begin(request)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `only one import runs at a time, and abandoning it allows the next`() async throws {
        let imports = TrackImports(store: store)
        do {
            var steps = try await imports.begin(ImportRequest(path: file)).makeAsyncIterator()
            let first = try #require(try await steps.next())
            #expect(first.stored > 0)
            #expect(first.stored < 5000)
            #expect(!first.finished)
            #expect(await refusal(ImportRequest(path: file), by: imports) == .conflict)
        }
        var last = ImportProgress()
        for try await progress in try await imports.begin(ImportRequest(path: file)) { last = progress }
        #expect(last.finished)
        #expect(last.received == 5000)
        #expect(last.known > 0)
        #expect(last.known + last.stored == 5000)
        #expect(await refusal(ImportRequest(path: "/nowhere.gpx"), by: imports) == .notFound)
        #expect(await refusal(ImportRequest(path: scratch.path), by: imports) == .invalid)
        #expect(await refusal(ImportRequest(path: "a.gpx"), by: imports) == .invalid)
        #expect(
            await refusal(ImportRequest(path: file), by: imports) == nil,
            "a refused request does not count as a running import"
        )
        try store.close()
    }

    @Test func `a finer filter adds points when a file is imported again; a coarser one removes none`() async throws {
        let imports = TrackImports(store: store)
        for (distance, points) in [(100.0, 500), (0, 5000), (200, 5000)] {
            for try await _ in try await imports.begin(ImportRequest(path: file, distanceFilter: distance)) {}
            let trips = try await store.trips(since: nil, until: nil)
            #expect(trips.count == 1)
            let trip = try #require(trips.first)
            #expect(abs(trip.points - points) <= points / 5, "\(distance) m: \(trip.points) points")
        }
        #expect(try await store.trips(since: nil, until: nil).first?.points == 5000)
        try store.close()
    }

    @Test func `a write failure ends the import, and its last progress reports the failure`() async throws {
        var steps = try await TrackImports(store: store).begin(ImportRequest(path: file)).makeAsyncIterator()
        _ = try await steps.next()
        try store.close()
        let last = try #require(try await steps.next())
        #expect(last.finished)
        #expect(last.fault?.contains("cannot write the history") == true)
        #expect(last.received == last.stored + last.known + last.rejected.total)
        #expect(try await steps.next() == nil)
    }
}
