import ArgumentParser
import BackgrounderAPI
import SystemSupport

/// The options that select a part of the history.
struct HistoryRange: ParsableArguments {
    static let times = "Times are ISO 8601, now, today, yesterday, or a span before now such as 10m, 2h or 7d."

    @Option(help: ArgumentHelp("Only points at or after this time.", valueName: "time"), transform: PointInTime.parse)
    var since: PointInTime?

    @Option(help: ArgumentHelp("Only points before this time.", valueName: "time"), transform: PointInTime.parse)
    var until: PointInTime?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only points of this trip; `backgrounder track trips` lists the ids.", valueName: "id"),
        transform: parseID
    )
    var trip: Int?

    func validate() throws {
        try PointInTime.check(since: since, until: until)
    }

    var isAll: Bool { since == nil && until == nil && trip == nil }

    var query: [(String, String)] {
        [
            since.map { ("since", ISO8601.string($0.date)) }, until.map { ("until", ISO8601.string($0.date)) },
            trip.map { ("trip", String($0)) },
        ].compactMap(\.self)
    }
}

extension Client {
    /// Calls `body` with each piece of the history, encoded in `format`, as it arrives. `body` throws only
    /// ``CommandFailure``.
    func history(_ range: HistoryRange, as format: TrackFormat, _ body: (ArraySlice<UInt8>) throws -> Void) async throws
    {
        let pieces = try await stream(Routes.historyPath, query: range.query + [("format", format.rawValue)])
        do {
            for try await piece in pieces { try body(piece) }
        } catch let failure as CommandFailure where failure.kind == .lostConnection {
            throw CommandFailure("lost the connection to the service; the output is incomplete")
        }
    }

    /// Calls `body` with each point of the history, in constant memory. `body` throws only ``CommandFailure``.
    func history(_ range: HistoryRange, _ body: (Location) throws -> Void) async throws {
        var decoder = CSVTrackDecoder()
        try await history(range, as: .csv) { piece in
            do {
                try decoder.feed(piece, body)
            } catch is CSVTrackDecoder.MalformedLine {
                throw CommandFailure(
                    "cannot parse the reply; check that backgrounder and backgrounderd have the same version"
                )
            }
        }
    }
}
