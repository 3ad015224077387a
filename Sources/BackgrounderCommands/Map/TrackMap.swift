import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// A drawing of a track as a self-contained SVG 1.1 document, without scripts, fonts, images or anything from the
/// network.
///
/// North is up. The colour of the line shows the speed. Start and end are marked, and a bar shows the scale.
struct TrackMap {
    let path: TrackPath
    let title: String

    private static let width = 1000.0
    private static let margin = 40.0
    private static let header = 56.0
    private static let footer = 64.0

    /// Returns the document, or `nil` if there are no points.
    func render() -> String? {
        guard let bounds = path.bounds, let first = path.first, let last = path.last else { return nil }
        let inner = Self.width - 2 * Self.margin
        let ground = TrackPath.groundScale(at: (bounds.south + bounds.north) / 2)
        // A track without movement is drawn 50 m wide.
        let extent = (
            x: max(bounds.east - bounds.west, 50 / ground), y: max(bounds.north - bounds.south, 50 / ground)
        )
        let innerHeight = min(max(inner * extent.y / extent.x, 200), 800)
        let scale = min(inner / extent.x, innerHeight / extent.y)
        let height = Self.header + innerHeight + 2 * Self.margin + Self.footer
        let centre = (x: (bounds.west + bounds.east) / 2, y: (bounds.south + bounds.north) / 2)
        let place = { (vertex: TrackPath.Vertex) -> Point in
            Point(
                x: Self.width / 2 + (vertex.x - centre.x) * scale,
                y: Self.header + Self.margin + innerHeight / 2 - (vertex.y - centre.y) * scale
            )
        }
        let points = path.vertices.map(place)
        let speeds = SpeedScale(top: path.topSpeed ?? 0)
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" version="1.1" viewBox="0 0 \(Self.width.short) \(height.short)" role="img">
            <title>\(title)</title>
            <desc>\(path.count) points from \(ISO8601.string(first.timestamp)) to \(ISO8601.string(last.timestamp)), \
            \(path.length.distance)</desc>
            \(Self.style)
            <rect class="paper" width="100%" height="100%"/>
            <text class="title" x="\(Self.margin.short)" y="36">\(title)</text>
            <text class="note" x="\((Self.width - Self.margin).short)" y="36" text-anchor="end">\(summary(first, last))</text>
            <path class="casing" d="\(outline(points))"/>
            \(line(points, speeds))
            \(markers(points, first, last))
            \(scaleBar(pixelsPerMetre: scale / ground, y: height - 36))
            \(legend(speeds, y: height - 36))
            \(north(y: height - 36))
            </svg>

            """
    }

    private struct Point {
        var x: Double
        var y: Double
        var text: String { "\(x.short) \(y.short)" }
    }

    private static let style = """
        <style>
        .paper{fill:#fff}text{font-family:system-ui,sans-serif;font-size:16px;fill:#222}.title{font-size:22px}
        .note{fill:#555}.casing,.line{fill:none;stroke-linecap:round;stroke-linejoin:round}
        .casing{stroke:#555;stroke-width:7}.line{stroke-width:5}.bar{fill:none;stroke:#222;stroke-width:2}
        .mark{stroke:#fff;stroke-width:2}.label{paint-order:stroke;stroke:#fff;stroke-width:4}
        @media(prefers-color-scheme:dark){.paper{fill:#16181c}text{fill:#eee}.note{fill:#aaa}.casing{stroke:#ccc}
        .bar{stroke:#eee}.label{stroke:#16181c}}
        </style>
        """

    private func north(y: Double) -> String {
        """
        <g id="north" transform="translate(\((Self.width * 0.4).short) \(y.short))"><path class="bar" d="M0 4V-24M-6 -16L0 -26L6 -16"/>\
        <text y="22" text-anchor="middle">N</text></g>
        """
    }

    /// Such as `2026-05-09 09:30 to 09:54 UTC, 2.2 km, 24:59, up to 6 km/h`.
    private func summary(_ first: Location, _ last: Location) -> String {
        let (start, end) = (ISO8601.string(first.timestamp), ISO8601.string(last.timestamp))
        let isOneDay = start.prefix(10) == end.prefix(10)
        let from = "\(start.prefix(10)) \(start.dropFirst(11).prefix(5))"
        let to = (isOneDay ? "" : "\(end.prefix(10)) ") + end.dropFirst(11).prefix(5)
        let seconds = last.timestamp.timeIntervalSince(first.timestamp)
        let parts: [String?] = [
            "\(from) to \(to) UTC", path.length.distance,
            // For more than two days, the dates are clearer than hours.
            seconds > 0 && seconds < 172_800 ? Durations.clock(seconds) : nil,
            path.topSpeed.map { "up to \(($0 * 3.6).decimals(0)) km/h" },
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }

    private func outline(_ points: [Point]) -> String {
        var text = ""
        for (index, point) in points.enumerated() {
            let isStart = path.vertices[index].isStart
            text += "\(isStart ? "M" : "L")\(point.text)"
            // Draw a segment of one point as a dot: a line of length 0 with round ends.
            if isStart, index + 1 == points.count || path.vertices[index + 1].isStart { text += "h0" }
        }
        return text
    }

    /// Returns a path for each stretch of one colour.
    private func line(_ points: [Point], _ speeds: SpeedScale) -> String {
        var paths: [String] = []
        var open: (colour: String, text: String)?
        for (index, point) in points.enumerated() {
            let vertex = path.vertices[index]
            let colour = speeds.colour(vertex.speed)
            if let stretch = open, vertex.isStart || stretch.colour != colour {
                paths.append("<path class=\"line\" stroke=\"\(stretch.colour)\" d=\"\(stretch.text)\"/>")
                open = nil
            }
            if vertex.isStart {
                let isAlone = index + 1 == points.count || path.vertices[index + 1].isStart
                if isAlone { open = (colour, "M\(point.text)h0") }
            } else if open != nil {
                open?.text += "L\(point.text)"
            } else {
                open = (colour, "M\(points[index - 1].text)L\(point.text)")
            }
        }
        if let open { paths.append("<path class=\"line\" stroke=\"\(open.colour)\" d=\"\(open.text)\"/>") }
        return paths.joined(separator: "\n")
    }

    private func markers(_ points: [Point], _ first: Location, _ last: Location) -> String {
        guard let start = points.first, let end = points.last else { return "" }
        func marker(_ name: String, _ point: Point, _ location: Location, _ colour: String, below: Bool) -> String {
            // Place the label towards the middle, so that it stays inside the drawing.
            let anchor = point.x > Self.width / 2 ? "end" : "start"
            let side = point.x > Self.width / 2 ? -12.0 : 12
            return """
                <g id="\(name)"><title>\(name) \(ISO8601.string(location.timestamp))</title>\
                <circle class="mark" cx="\(point.x.short)" cy="\(point.y.short)" r="8" fill="\(colour)"/>\
                <text class="label" x="\((point.x + side).short)" y="\((point.y + (below ? 22 : -10)).short)" \
                text-anchor="\(anchor)">\(name)</text></g>
                """
        }
        return marker("start", start, first, "#1a7f37", below: false) + "\n"
            + marker("end", end, last, "#cf222e", below: true)
    }

    /// Returns a scale bar for a round length, at most a quarter as long as the drawing is wide.
    private func scaleBar(pixelsPerMetre: Double, y: Double) -> String {
        let longest = Self.width / 4 / pixelsPerMetre
        let ceiling = niceCeiling(longest)
        let metres =
            [1, 0.5, 0.4, 0.2].map { $0 * ceiling }.first { $0 <= longest && niceCeiling($0) == $0 } ?? longest
        let x = Self.margin
        return """
            <g id="scale"><path class="bar" d="M\(x.short) \((y - 8).short)v8h\((metres * pixelsPerMetre).short)v-8"/>\
            <text x="\(x.short)" y="\((y + 22).short)">\(metres.distance)</text></g>
            """
    }

    private func legend(_ speeds: SpeedScale, y: Double) -> String {
        guard path.topSpeed != nil else { return "" }
        let width = 56.0
        let left = Self.width - Self.margin - width * Double(SpeedScale.colours.count)
        var text = "<g id=\"speed\">"
        for (index, colour) in SpeedScale.colours.enumerated() {
            let x = left + width * Double(index)
            text +=
                "<rect x=\"\(x.short)\" y=\"\((y - 8).short)\" width=\"\(width.short)\" height=\"8\" fill=\"\(colour)\"/>"
            text +=
                "<text x=\"\(x.short)\" y=\"\((y + 22).short)\" text-anchor=\"middle\">"
                + "\((speeds.step * Double(index)).short)</text>"
        }
        return text
            + "<text x=\"\((left + width * 6).short)\" y=\"\((y - 16).short)\" text-anchor=\"end\">km/h</text></g>"
    }
}

extension Double {
    /// The number with one decimal, or none if it is 0.
    fileprivate var short: String {
        let text = decimals(1)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// A length in metres, such as `850 m` or `12.3 km`.
    fileprivate var distance: String {
        self < 1000 ? metres : "\((self / 1000).short) km"
    }
}
