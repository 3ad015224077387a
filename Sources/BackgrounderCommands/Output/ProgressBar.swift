/// A progress bar made of characters.
enum ProgressBar {
    /// - Parameter whole: The full amount; if it is `nil`, the bar stays empty.
    static func render(_ part: Double, of whole: Double?, width: Int) -> String {
        let share = whole.map { $0 > 0 ? min(1, max(0, part / $0)) : 0 } ?? 0
        let filled = Int((share * Double(width)).rounded())
        return String(repeating: "━", count: filled) + String(repeating: "─", count: width - filled)
    }
}
