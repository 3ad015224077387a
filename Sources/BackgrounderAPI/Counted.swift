/// `1 point`, `997 points`: a number with the plural of `noun` that ends in s.
package func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
