import ArgumentParser
import AsyncHTTPClient
import BackgrounderAPI
import FoundationEssentials
import NIOCore

extension TrackCommand {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Put the points of a GPX file into the history; once, however often it is done.",
            discussion: """
                The points go through the filter with the settings given here, as in `track replay`; with --raw every valid \
                point is taken. They become part of history and trips by their own times, and never of the rolling track.

                EXAMPLES
                  backgrounder track import old-logger.gpx --filter 10
                  backgrounder track import --raw backup.gpx
                """
        )

        @Argument(help: "A GPX 1.0 or 1.1 file whose points have times.")
        var file: String

        @Flag(help: "Take every valid point, without the filter.")
        var raw = false

        @Option(
            help: ArgumentHelp(
                "One of \(DesiredAccuracy.allCases.map(\.rawValue).joined(separator: ", ")).",
                valueName: "level"
            )
        )
        var accuracy: DesiredAccuracy?

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("Metres between points; 0 or none takes every point.", valueName: "metres")
        )
        var filter: String?

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("The largest accuracy that is taken, in metres, or none.", valueName: "metres")
        )
        var maximum: String?

        @Flag(name: .customLong("no-jitter-guard"), help: "Take a distance that the errors explain for movement.")
        var noJitterGuard = false

        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            _ = (try distanceFilter, try maximumAccuracy)
            if raw, accuracy != nil || filter != nil || maximum != nil || noJitterGuard {
                throw ValidationError("--raw takes every valid point: leave the settings of the filter away")
            }
        }

        private var distanceFilter: Double? {
            get throws { try filter.map { try parseMetres([$0], zero: true).flatMap(\.self) ?? 0 } }
        }

        private var maximumAccuracy: Double? {
            get throws { try maximum.flatMap { try parseMetres([$0], zero: false).flatMap(\.self) } }
        }

        func run() async throws {
            let request = ImportRequest(
                path: RuntimePaths.absolute(file),
                raw: raw ? true : nil,
                desiredAccuracy: accuracy,
                distanceFilter: try distanceFilter,
                maximumAccuracy: try maximumAccuracy,
                jitterGuard: noJitterGuard ? false : nil
            )
            let last = try await reading.use { client in
                var progress = ProgressLine()
                defer { progress.end() }
                return try await client.importTrack(request) { progress.show($0.summary) }
            }
            // Where nothing was received the fault says it all.
            if last.received > 0 { try reading.show(last, \.summary) }
            if let fault = last.fault { throw CommandFailure(fault) }
        }
    }
}

extension Client {
    /// Imports a file, and calls `body` from time to time.
    ///
    /// - Returns: the last word on it.
    fileprivate func importTrack(
        _ request: ImportRequest,
        _ body: (ImportProgress) -> Void
    ) async throws -> ImportProgress {
        let broken = CommandFailure(
            "the connection to the service broke; what was imported stays, and importing again completes it"
        )
        let pieces = try await stream(Routes.importTrack, body: request)
        var line = ByteBuffer()
        do {
            for try await var piece in pieces {
                while let length = piece.readableBytesView.firstIndex(of: UInt8(ascii: "\n")).map({
                    $0 - piece.readerIndex
                }) {
                    if var rest = piece.readSlice(length: length) { line.writeBuffer(&rest) }
                    piece.moveReaderIndex(forwardBy: 1)
                    let progress = try JSON.decode(ImportProgress.self, from: Data(line.readableBytesView))
                    if progress.finished { return progress }
                    body(progress)
                    line.clear()
                }
                line.writeBuffer(&piece)
            }
        } catch {
            throw broken
        }
        throw broken
    }
}

extension ImportProgress {
    /// `1000 received: 400 stored, 500 known, 100 rejected (distance 100); 3 trips`
    var summary: String {
        let reasons = RejectionReason.allCases.filter { rejected[$0] > 0 }.map { "\($0.rawValue) \(rejected[$0])" }
        return "\(received) received: \(stored) stored, \(known) known before, \(rejected.total) rejected"
            + (reasons.isEmpty ? "" : " (\(reasons.joined(separator: ", ")))")
            + "; \(counted(trips, "trip"))"
    }
}
