import ArgumentParser
import BackgrounderAPI
import SystemSupport

extension TrackCommand {
    struct Map: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "map",
            abstract: "Draw the track as SVG, or on a terminal with characters.",
            discussion: """
                Without a range, draws the rolling track. The colour shows the speed; start and end are marked. The SVG \
                needs no other files.

                \(HistoryRange.times)

                EXAMPLES
                  backgrounder track map > now.svg
                  backgrounder track map --trip 3 > trip.svg
                  backgrounder track map --since yesterday --until today > yesterday.svg
                """
        )

        @OptionGroup var range: HistoryRange
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            var path = TrackPath()
            let client = service.client
            if range.isAll {
                for location in try await client.call(Routes.track) { path.append(location) }
            } else {
                try await client.history(range) { path.append($0) }
            }
            guard let svg = TrackMap(path: path, title: range.title).render() else {
                throw CommandFailure("no points in this range; nothing to draw")
            }
            guard StandardOutput.isTerminal else { return try Output.write(svg) }
            let size = StandardOutput.terminalSize
            let lines = TrackDrawing(path).render(columns: size.columns - 1, rows: min(size.rows - 2, size.columns / 3))
            try Output.print(lines.joined(separator: "\n"))
            Output.note("redirect the output to write an SVG: backgrounder track map > map.svg")
        }
    }
}

extension HistoryRange {
    fileprivate var title: String {
        trip.map { "Trip \($0)" } ?? (isAll ? "The newest points" : "History")
    }
}
