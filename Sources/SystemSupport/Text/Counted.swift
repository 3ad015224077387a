/// Returns `1 point`, `997 points`: a count with `noun`, whose plural ends in s.
package func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
