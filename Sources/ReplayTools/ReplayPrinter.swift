import BackgrounderAPI
import LocationUpdates
import SystemSupport

/// Prints the accepted points, or the rejected fixes, in one of the formats.
struct ReplayPrinter: ReplaySink {
    private let format: ReplayFormat
    private let showsRejected: Bool
    private let style: RowStyle
    private var encoder: (any TrackEncoder)?
    private var isFirst = true
    private var output = BufferedOutput()

    var wantsExplanations: Bool { false }

    init(format: ReplayFormat, showsRejected: Bool, style: RowStyle = .output) {
        self.format = format
        self.style = style
        self.showsRejected = showsRejected
        encoder = showsRejected ? nil : TrackFormat(rawValue: format.rawValue)?.makeEncoder(indexed: true)
        output.text.append(text: encoder?.begin() ?? (format == .json ? "[" : ""))
    }

    mutating func receive(_ decision: Decision, _ fix: ReplayedFix) throws(OutputError) {
        switch decision {
        case .accepted(let location):
            guard !showsRejected else { return }
            if encoder?.append(location, index: fix.index, to: &output.text) == nil {
                append(location, fix.index)
            }
            try output.flushIfLong()
        case .rejected(let rejection):
            guard showsRejected else { return }
            try output.append(format == .json ? json(fix.index, rejection) : line(fix.index, rejection))
            isFirst = false
        }
    }

    mutating func pause() throws(OutputError) { try output.flush() }

    mutating func end() throws(OutputError) {
        output.text.append(text: encoder?.end() ?? (format == .json ? (isFirst ? "]\n" : "\n]\n") : ""))
        try output.flush()
    }

    private func json(_ index: Int, _ rejection: Rejection) -> String {
        // A rejection has only finite numbers, so it always encodes.
        (isFirst ? "\n" : ",\n") + ((try? JSON.line(IndexedRejection(index: index, rejection: rejection))) ?? "null")
    }

    private mutating func append(_ location: Location, _ index: Int) {
        switch style {
        case .pipe:
            output.text.append(UInt64(index))
            output.text.append("  ")
            output.text.append(location)
            output.text.append("\n")
        case .terminal:
            var text = TextBuffer()
            text.append(withoutTime: location)
            output.text.append(text: style.line("\(index)  \(text.string) @ \(style.time(location.timestamp))"))
        }
    }

    private func line(_ index: Int, _ rejection: Rejection) -> String {
        let numbers = [
            rejection.value.map { "is \($0.decimals(2))" }, rejection.limit.map { "limit \($0.decimals(2))" },
        ]
        let detail = numbers.compactMap(\.self).joined(separator: ", ")
        let time = rejection.timestamp.map { " @ \(style.time($0))" } ?? ""
        return style.line("\(index)  \(rejection.reason.rawValue)\(detail.isEmpty ? "" : " (\(detail))")\(time)")
    }
}

/// Buffers text for stdout and writes it in large pieces.
struct BufferedOutput {
    var text = TextBuffer()

    mutating func append(_ more: String) throws(OutputError) {
        text.append(text: more)
        try flushIfLong()
    }

    mutating func flushIfLong() throws(OutputError) {
        if text.count > 1 << 16 { try flush() }
    }

    mutating func flush() throws(OutputError) {
        try StandardOutput.write(text)
        text.removeAll()
    }
}

/// A rejection and its index as one JSON object.
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
