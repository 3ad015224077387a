import ArgumentParser
import BackgrounderAPI
import SystemSupport

extension TrackCommand {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write the history, or a part of it, to a file or to stdout.",
            discussion: """
                An existing file is not overwritten without --force. An incomplete file is \
                named FILE.part. The history can be of any length; it is not read into memory.

                \(HistoryRange.times)

                EXAMPLES
                  backgrounder track export --since 30d -o month.gpx
                  backgrounder track export --trip 12 --format geojson > trip.geojson
                """
        )

        @OptionGroup var range: HistoryRange

        @Option(help: "Output format.")
        var format = TrackFormat.gpx

        @Option(name: .shortAndLong, help: ArgumentHelp("File to write (default stdout).", valueName: "file"))
        var output: String?

        @Flag(help: "Overwrite the file if it exists.")
        var force = false

        @OptionGroup var service: ServiceOptions

        func run() async throws {
            let client = service.client
            guard let output else {
                return try await client.history(range, as: format) { try Output.write(bytes: Array($0)) }
            }
            if !force { try ExportFile.checkNew(output, named: output) }
            let file = try ExportFile(output)
            var progress = ProgressLine()
            var counter = PointCounter(format: format)
            var bytes = 0
            do {
                try await client.history(range, as: format) { piece in
                    try file.write(piece)
                    bytes += piece.count
                    guard progress.isShown else { return }
                    counter.count(piece)
                    progress.show("\(counter.points) points, \((Double(bytes) / 1e6).decimals(1)) MB")
                }
            } catch {
                progress.end()
                file.discard()
                guard let failure = error as? CommandFailure else { throw error }
                throw CommandFailure(
                    failure.description.replacing("the output is incomplete", with: "\(output) was not written"),
                    exitCode: failure.exitCode
                )
            }
            progress.end()
            try file.complete()
            try Output.print("wrote \(output.withoutControlCharacters): \(Int64(bytes).inBytes)")
        }
    }
}

extension TrackFormat: FixedWord {}

/// Counts the points in a document that arrives in pieces. In every format, each point begins a line.
struct PointCounter {
    private let format: TrackFormat
    private(set) var points = 0
    private var line: [UInt8] = []
    /// In every format, the first line is not a point.
    private var isFirstLine = true

    init(format: TrackFormat) {
        self.format = format
    }

    mutating func count(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                line.removeAll(keepingCapacity: true)
                isFirstLine = false
            } else if !isFirstLine, line.count < 6 {
                line.append(byte)
                if beginsPoint { points += 1 }
            }
        }
    }

    /// Whether the last character has just identified the line as a point's.
    private var beginsPoint: Bool {
        switch format {
        case .gpx: line == Array("<trkpt".utf8)
        case .json, .geojson: line == [UInt8(ascii: "{")]
        case .csv, .kml:
            line.count == 1 && (line[0] == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= line[0])
        }
    }
}
