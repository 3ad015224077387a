import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// The upper right part of the live view: a drawing of the track, the state of the receiver, and the current trip.
struct LocationPanel {
    private let state: LiveState
    private let now: Date

    init(_ state: LiveState, now: Date) {
        (self.state, self.now) = (state, now)
    }

    /// Returns at most `rows` lines for a panel that is `width` columns wide inside.
    func lines(width: Int, rows: Int) -> [String] {
        guard let location = state.status?.location else { return ["off"] }
        // In the order of the screen; if they do not fit, those with the highest numbers are left out.
        var texts: [(rank: Int, text: String)] = [(1, receiver(location)), (5, filter(location))]
        if let fix = state.track.last {
            texts.append((0, place(fix)))
            texts.append((4, motion(fix)))
        }
        for (index, line) in trip(location.trip, width: width).enumerated() { texts.append((2 + index, line)) }
        let limit = texts.map(\.rank).sorted().prefix(max(0, rows)).last ?? -1
        let shown = texts.filter { $0.rank <= limit }.map(\.text)
        return TrackDrawing(state.track).render(columns: width, rows: max(0, rows - shown.count)) + shown
    }

    private func receiver(_ location: LocationStatus) -> String {
        let quality = location.quality.map { ", \($0.rawValue)" } ?? ""
        return "\(location.updating ? location.connection.rawValue : "stopped")\(quality)"
            + "  \(location.accepted) of \(location.received) accepted"
    }

    private func filter(_ location: LocationStatus) -> String {
        let distance = location.distanceFilter == 0 ? "every fix" : "every \(location.distanceFilter.metres)"
        return "\(location.desiredAccuracy.rawValue), \(distance)"
    }

    private func place(_ fix: Location) -> String {
        let accuracy = fix.horizontalAccuracy.map { " ± \($0.metres)" } ?? ""
        return "\(fix.latitude.decimals(6)), \(fix.longitude.decimals(6))\(accuracy)"
    }

    private func motion(_ fix: Location) -> String {
        let parts = [
            fix.speed.map { "\($0.decimals(1)) m/s" }, fix.course.map { "course \($0.decimals(0))°" },
            fix.altitude.map { "\($0.decimals(0)) m high" },
        ]
        return parts.compactMap(\.self).joined(separator: "  ")
    }

    /// The trip in one line, or in two on a narrow panel.
    private func trip(_ trip: TripProgress?, width: Int) -> [String] {
        guard let trip else { return ["no trip in progress"] }
        let way = "trip \((trip.distance / 1000).decimals(2)) km in \(Durations.clock(trip.duration))"
        let start = TimeStyle.local(now: now).minute(trip.start, after: now)
        let origin = "\(trip.points) point\(trip.points == 1 ? "" : "s") since \(start)"
        let line = "\(way), \(origin)"
        return line.count <= width ? [line] : [way, origin]
    }
}
