import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import SystemSupport

extension TrackCommand {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Import a GPX file into the history; importing it again adds nothing.",
            discussion: """
                The points pass through the filter with the settings given here, as in `track replay`; with --raw, every \
                valid point is imported. Imported points join the history and its trips by their own times. The rolling \
                track does not change.

                EXAMPLES
                  backgrounder track import old-logger.gpx --filter 10
                  backgrounder track import --raw backup.gpx
                """
        )

        @Argument(help: "GPX 1.0 or 1.1 file; its points must have times.")
        var file: String

        @Flag(help: "Import every valid point, without the filter.")
        var raw = false

        @Option(
            help: ArgumentHelp("Accuracy level (default best).", valueName: "level")
        )
        var accuracy: DesiredAccuracy?

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("Least distance between points, in metres, or none (default none).", valueName: "metres")
        )
        var filter: String?

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp(
                "Largest position error to accept, in metres, or none (default none).",
                valueName: "metres"
            )
        )
        var maximum: String?

        @Flag(name: .customLong("no-jitter-guard"), help: "Accept movement that is within the position error.")
        var noJitterGuard = false

        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            _ = (try distanceFilter, try maximumAccuracy)
            if raw, accuracy != nil || filter != nil || maximum != nil || noJitterGuard {
                throw ValidationError("--raw bypasses the filter; remove the filter options")
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
            let last = try await imported(request)
            // If no point was received, the fault alone explains it.
            if last.received > 0 { try reading.show(last, \.summary) }
            if let fault = last.fault { throw CommandFailure(fault) }
        }

        private func imported(_ request: ImportRequest) async throws -> ImportProgress {
            var progress = ProgressLine()
            defer { progress.end() }
            return try await reading.client.importTrack(request) { progress.show($0.summary) }
        }
    }
}

extension Client {
    /// Imports a file and calls `body` with each progress report.
    ///
    /// - Returns: The final report.
    fileprivate func importTrack(
        _ request: ImportRequest,
        _ body: (ImportProgress) -> Void
    ) async throws -> ImportProgress {
        let broken = CommandFailure(
            "lost the connection to the service; the points imported so far are kept; import again to add the rest"
        )
        let pieces = try await stream(Routes.importTrack, body: request)
        var line: [UInt8] = []
        do {
            for try await piece in pieces {
                for byte in piece {
                    guard byte == UInt8(ascii: "\n") else {
                        line.append(byte)
                        continue
                    }
                    let progress = try JSON.decode(ImportProgress.self, from: Data(line))
                    if progress.finished { return progress }
                    body(progress)
                    line.removeAll(keepingCapacity: true)
                }
            }
        } catch {
            throw broken
        }
        throw broken
    }
}

extension ImportProgress {
    /// Such as `1000 received: 400 stored, 500 already known, 100 rejected (distance 100); 3 trips`.
    var summary: String {
        let reasons = RejectionReason.allCases.filter { rejected[$0] > 0 }.map { "\($0.rawValue) \(rejected[$0])" }
        return "\(received) received: \(stored) stored, \(known) already known, \(rejected.total) rejected"
            + (reasons.isEmpty ? "" : " (\(reasons.joined(separator: ", ")))")
            + "; \(counted(trips, "trip"))"
    }
}
