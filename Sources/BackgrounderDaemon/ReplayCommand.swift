import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import Glibc
import LocationUpdates

/// `backgrounderd replay FILE`: a GPX file through the filter, without a service and without its configuration.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Run a GPX file through the filter and print what is accepted; a summary goes to stderr.",
        discussion: """
            EXAMPLES
              backgrounder track replay tracks/city-walk.gpx --filter 10
              backgrounder track replay tracks/bad-fixes.gpx --rejected --format json
              backgrounder track replay drive.gpx --accuracy kilometer --format gpx > clean.gpx
            """
    )

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table, json, geojson, gpx, kml, csv
    }

    @Argument(help: "A GPX 1.0 or 1.1 file.")
    var file: String

    @Option(help: ArgumentHelp("N times as fast as it was recorded, or max: as fast as possible.", valueName: "n|max"))
    var rate = ReplayRate.max

    @Option(
        help: ArgumentHelp(
            "One of \(DesiredAccuracy.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "level"
        )
    )
    var accuracy = DesiredAccuracy.best

    @Option(help: ArgumentHelp("Metres between points; 0 or none takes every fix.", valueName: "metres"))
    var filter = MetresArgument(metres: nil)

    @Option(help: ArgumentHelp("The largest accuracy that is taken, in metres, or none.", valueName: "metres"))
    var maximum = MetresArgument(metres: nil)

    @Flag(name: .customLong("no-jitter-guard"), help: "Take a distance that the errors explain for movement.")
    var noJitterGuard = false

    @Flag(help: "Print what is not accepted, with the reason, instead.")
    var rejected = false

    @Option(help: "table, json, geojson, gpx, kml or csv.")
    var format = Format.table

    func validate() throws {
        if rejected, ![.table, .json].contains(format) {
            throw ValidationError("--rejected prints table or json, not \(format.rawValue)")
        }
        if maximum.metres == 0 { throw ValidationError("--maximum 0 takes nothing: give metres above 0, or none") }
    }

    func run() async throws {
        do {
            try await replay()
        } catch let error as OutputError {
            DaemonCommand.fail(error.description)
        } catch let fault as TrackFault {
            DaemonCommand.fail(fault.description)
        }
        Glibc.exit(0)
    }

    private func replay() async throws {
        var filter = LocationFilter()
        filter.settings = LocationSettings(
            desiredAccuracy: accuracy,
            distanceFilter: self.filter.metres ?? 0,
            maximumAccuracy: maximum.metres,
            jitterGuard: !noJitterGuard
        )
        var printer = ReplayPrinter(format: format, showsRejected: rejected)
        var counts = LocationCounts()
        var pace = ReplayPace(rate: rate)
        var fault: TrackFault?
        let reader = try GPXReader(path: RuntimePaths.absolute(file), start: Date())
        do {
            while let points = try reader.next() {
                for point in points {
                    let delay = pace.delay(before: point.fix.time)
                    if delay > 0 {
                        try printer.flush()
                        try await EventLoopClock.shared.sleep(for: .seconds(delay))
                    }
                    switch filter.receive(.fix(point.fix)) {
                    case .accepted(let location):
                        counts.accepted += 1
                        try printer.accept(location, index: point.index)
                    case .rejected(let rejection):
                        counts.rejected[rejection.reason] += 1
                        try printer.reject(rejection, index: point.index)
                    case nil: break
                    }
                }
            }
        } catch let damage as TrackFault {
            fault = damage
        }
        guard counts.received > 0 || fault != nil else {
            DaemonCommand.fail("\(file) has no track points (trkpt); give a GPX file with a recorded track")
        }
        try printer.end()
        // Where nothing was received the fault says it all.
        if counts.received > 0 { Self.summarize(counts) }
        if let fault { throw fault }
    }

    private static func summarize(_ counts: LocationCounts) {
        let reasons = RejectionReason.allCases.filter { counts.rejected[$0] > 0 }.map {
            "\($0.rawValue) \(counts.rejected[$0])"
        }
        let rest = reasons.isEmpty ? "" : " (\(reasons.joined(separator: ", ")))"
        let line =
            "\(counts.received) received, \(counts.accepted) accepted, \(counts.rejected.total) rejected\(rest)\n"
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}

/// Prints decisions in one of the formats, in large pieces.
private struct ReplayPrinter {
    private let format: ReplayCommand.Format
    private let showsRejected: Bool
    private var encoder: (any TrackEncoder)?
    private var isFirst = true
    private var buffer = ""

    init(format: ReplayCommand.Format, showsRejected: Bool) {
        self.format = format
        self.showsRejected = showsRejected
        encoder = showsRejected ? nil : TrackFormat(rawValue: format.rawValue)?.makeEncoder(indexed: true)
        buffer = encoder?.begin() ?? (format == .json ? "[" : "")
    }

    mutating func accept(_ location: Location, index: Int) throws(OutputError) {
        guard !showsRejected else { return }
        try append(encoder?.append(location, index: index) ?? "\(index)  \(location.logDescription)\n")
    }

    mutating func reject(_ rejection: Rejection, index: Int) throws(OutputError) {
        guard showsRejected else { return }
        switch format {
        case .json:
            // A rejection holds finite numbers only, so that it always encodes.
            try append(
                (isFirst ? "\n" : ",\n")
                    + ((try? JSON.line(IndexedRejection(index: index, rejection: rejection))) ?? "null")
            )
            isFirst = false
        default:
            let numbers = [
                rejection.value.map { "is \($0.decimals(2))" }, rejection.limit.map { "limit \($0.decimals(2))" },
            ]
            let detail = numbers.compactMap(\.self).joined(separator: ", ")
            let time = rejection.timestamp.map { " @ \(ISO8601.string($0))" } ?? ""
            try append("\(index)  \(rejection.reason.rawValue)\(detail.isEmpty ? "" : " (\(detail))")\(time)\n")
        }
    }

    mutating func end() throws(OutputError) {
        buffer += encoder?.end() ?? (format == .json ? (isFirst ? "]\n" : "\n]\n") : "")
        try flush()
    }

    mutating func flush() throws(OutputError) {
        try StandardOutput.write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    private mutating func append(_ text: String) throws(OutputError) {
        buffer += text
        if buffer.utf8.count > 1 << 16 { try flush() }
    }
}

/// In JSON one object.
private struct IndexedRejection: Encodable {
    enum CodingKeys: CodingKey {
        case index
    }

    var index: Int
    var rejection: Rejection

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(index, forKey: .index)
        try rejection.encode(to: encoder)
    }
}

struct MetresArgument: ExpressibleByArgument, CustomStringConvertible {
    var metres: Double?

    init(metres: Double?) {
        self.metres = metres
    }

    init?(argument: String) {
        guard let metres = Metres.orNone(argument) else { return nil }
        self.metres = metres
    }

    var description: String { metres.map { String($0) } ?? "none" }
}

extension ReplayRate: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }
}

extension DesiredAccuracy: ExpressibleByArgument {}
