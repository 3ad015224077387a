import ArgumentParser
import BackgrounderAPI
import SystemSupport

extension PlaceCommand {
    /// `backgrounder place route`: the route that the machine follows.
    struct RouteCommands: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "route",
            abstract: "Follow a route with stops, such as that of a bus.",
            discussion: """
                On a route, its shape tells which stop is the next one: after the previous stop \
                was left, rules for `next` act, and rules for `approach` before the arrival. \
                Stops that are not imported become places with the tag stop. Without a \
                subcommand, runs `place route show`.

                EXAMPLES
                  backgrounder place route set --gtfs feed.zip --trip 4711
                  backgrounder place route set --gpx line-7.gpx
                  backgrounder place route show --format json
                """,
            subcommands: [Set.self, Show.self, Clear.self],
            defaultSubcommand: Show.self
        )

        struct Set: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "set",
                abstract: "Follow a trip of a GTFS feed, or the route of a GPX file.",
                discussion: """
                    EXAMPLES
                      backgrounder place route set --gtfs feed.zip --trip 4711
                      backgrounder place route set --gpx line-7.gpx
                    """
            )
            @Option(help: ArgumentHelp("GTFS archive.", valueName: "file"), completion: .file())
            var gtfs: String?
            @Option(help: ArgumentHelp("Id of the trip in it.", valueName: "id"))
            var trip: String?
            @Option(
                help: ArgumentHelp("GPX file with a track or route, and its stops as named points.", valueName: "file"),
                completion: .file()
            )
            var gpx: String?
            @OptionGroup var reading: ReadingOptions

            private var request: PlaceRouteRequest {
                PlaceRouteRequest(
                    gtfs: gtfs.map { RuntimePaths.absolute($0) },
                    trip: trip,
                    gpx: gpx.map { RuntimePaths.absolute($0) }
                )
            }

            func validate() throws {
                guard (gtfs != nil) == (trip != nil), (gtfs != nil) != (gpx != nil) else {
                    throw ValidationError("name the route with --gtfs and --trip, or with --gpx")
                }
            }

            func run() async throws {
                let route = try await reading.client.call(Routes.followRoute, body: request, patience: .seconds(600))
                try reading.show(route) { PlaceRouteTable.render($0) }
            }
        }

        struct Show: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "show",
                abstract: "Show the stops of the route, and how far the machine has come.",
                discussion: """
                    EXAMPLE
                      backgrounder place route show
                    """
            )
            @OptionGroup var reading: ReadingOptions

            func run() async throws {
                let route = try await reading.client.call(Routes.placeRoute)
                try reading.show(route) { PlaceRouteTable.render($0) }
            }
        }

        struct Clear: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "clear",
                abstract: "Follow no route any more.",
                discussion: """
                    EXAMPLE
                      backgrounder place route clear
                    """
            )
            @OptionGroup var reading: ReadingOptions

            func run() async throws {
                _ = try await reading.client.call(Routes.clearRoute)
                try reading.confirm("following no route")
            }
        }
    }
}

/// The stops of a route as a table below a line with the progress.
enum PlaceRouteTable {
    static func render(_ route: PlaceRouteProgress, limit: Int? = StandardOutput.widthLimit) -> String {
        var table = Table([("STOP", .left), ("AT", .right), ("STATE", .left)])
        for stop in route.stops {
            table.add([stop.name, "\((stop.distance / 1000).decimals(2)) km", stop.state.rawValue])
        }
        return route.heading.withoutControlCharacters + "\n" + table.render(limit: limit)
    }
}

extension PlaceRouteProgress {
    fileprivate var heading: String {
        let way = progress.map { "\(($0 / 1000).decimals(2)) of \((length / 1000).decimals(2)) km" }
        let state =
            finished ? "finished" : diverted ? "off the route" : progress == nil ? "not on the route yet" : way ?? ""
        let stop = next.map { ", next \($0)" } ?? ""
        return (name.isEmpty ? "route" : name) + ": " + state + stop
    }
}
