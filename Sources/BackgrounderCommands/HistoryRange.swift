import ArgumentParser
import AsyncHTTPClient
import BackgrounderAPI
import NIOCore

/// Which part of the history is meant.
struct HistoryRange: ParsableArguments {
    static let times = "Times are ISO 8601, today, yesterday, or a span such as 10m, 2h or 7d before now."

    @Option(help: ArgumentHelp("From this time on.", valueName: "time"), transform: PointInTime.parse)
    var since: PointInTime?

    @Option(help: ArgumentHelp("Before this time.", valueName: "time"), transform: PointInTime.parse)
    var until: PointInTime?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Of this trip; `backgrounder track trips` lists them.", valueName: "id"),
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
    /// Calls `body`, which throws nothing but ``CommandFailure``, with each piece of the history in `format`, as it comes.
    func history(_ range: HistoryRange, as format: TrackFormat, _ body: (ByteBuffer) throws -> Void) async throws {
        let pieces = try await stream(Routes.historyPath, query: range.query + [("format", format.rawValue)])
        do {
            for try await piece in pieces { try body(piece) }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("the connection to the service broke; what was printed is not all")
        }
    }

    /// Calls `body`, which throws nothing but ``CommandFailure``, with each point, in constant memory.
    func history(_ range: HistoryRange, _ body: (Location) throws -> Void) async throws {
        var decoder = CSVTrackDecoder()
        try await history(range, as: .csv) { piece in
            do {
                try decoder.feed(piece.readableBytesView, body)
            } catch is CSVTrackDecoder.MalformedLine {
                throw CommandFailure("the service's answer cannot be read; are command and service of one version?")
            }
        }
    }
}
