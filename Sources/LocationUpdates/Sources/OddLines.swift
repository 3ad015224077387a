/// Lines of a log that are not gpsd's and were skipped.
package struct OddLines: Hashable, Sendable, CustomStringConvertible {
    package var path: String
    package var count: Int
    /// The 1-based number of the first such line.
    package var line: Int

    package var description: String {
        count == 1
            ? "\(path):\(line): skipped this line, which is not gpsd's"
            : "\(path):\(line): skipped this line and \(count - 1) more, which are not gpsd's"
    }
}
