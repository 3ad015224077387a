package import LocationUpdates
import SystemSupport

/// The input of `track replay`.
package enum ReplayInput: Sendable {
    case gpx(path: String, rate: ReplayRate)
    case log(path: String, rate: ReplayRate)
    case live(GPSDAddress)

    /// Parses a location source or the path of a GPX file.
    ///
    /// - Parameter rate: overrides the rate of the source; without either, a file is read as fast as possible.
    /// - Throws: ``LocationSourceError``.
    package init(_ argument: String, rate: ReplayRate?) throws(LocationSourceError) {
        let isSource = ["gpx:", "gpsd-log:", "gpsd://"].contains { argument.hasPrefix($0) }
        guard isSource else {
            self = .gpx(path: RuntimePaths.absolute(argument), rate: rate ?? .max)
            return
        }
        let source = try LocationSource(argument, relativeTo: RuntimePaths.absolute("."))
        func chosen(_ own: ReplayRate) -> ReplayRate { rate ?? (argument.contains("?rate=") ? own : .max) }
        self =
            switch source {
            case .gpsd(let address): .live(address)
            case .gpx(let path, let own): .gpx(path: RuntimePaths.absolute(path), rate: chosen(own))
            case .gpsdLog(let path, let own): .log(path: RuntimePaths.absolute(path), rate: chosen(own))
            }
    }

    package var isLive: Bool {
        if case .live = self { true } else { false }
    }
}
