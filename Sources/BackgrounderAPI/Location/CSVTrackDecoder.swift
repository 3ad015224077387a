import FoundationEssentials
import SystemSupport

/// Decodes the output of ``TrackFormat/csv``, from pieces of any length and in constant memory.
///
///     var decoder = CSVTrackDecoder()
///     for try await piece in body { try decoder.feed(piece) { print($0) } }
package struct CSVTrackDecoder: Sendable {
    /// A line that the encoder does not write.
    package struct MalformedLine: Error, Hashable, Sendable {
        package var line: String

        /// Creates a malformed line.
        package init(line: String) {
            self.line = line
        }
    }

    private var line: [UInt8] = []
    private var isBehindHeading = false

    /// Creates a decoder at the beginning of a document.
    package init() {}

    /// Calls `body` with each point that `bytes` completes.
    ///
    /// - Throws: ``MalformedLine``, and the errors of `body`.
    package mutating func feed(_ bytes: some Sequence<UInt8>, _ body: (Location) throws -> Void) throws {
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            defer { line.removeAll(keepingCapacity: true) }
            if isBehindHeading { try body(try location()) }
            isBehindHeading = true
        }
    }

    private func location() throws(MalformedLine) -> Location {
        let text = String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line[...], as: UTF8.self)
        let cells = text.split(separator: ",", omittingEmptySubsequences: false)
        guard cells.count == 11, let latitude = Double(cells[0]), let longitude = Double(cells[1]),
            let timestamp = ISO8601.date(cells[8]), let mode = Int(cells[9])
        else { throw MalformedLine(line: text) }
        return Location(
            latitude: latitude,
            longitude: longitude,
            altitude: Double(cells[2]),
            horizontalAccuracy: Double(cells[3]),
            accuracySource: AccuracySource(rawValue: String(cells[4])),
            verticalAccuracy: Double(cells[5]),
            speed: Double(cells[6]),
            course: Double(cells[7]),
            timestamp: timestamp,
            mode: mode,
            segmentStart: cells[10] == "true" ? true : nil
        )
    }
}
