import SystemSupport

/// A fault of a rule, or of the whole list: where it is, what is wrong, and what to do.
package struct PlaceRuleFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The index of the rule in the list; `nil` if the fault concerns the whole list.
    package let index: Int?
    /// The name of the rule, if it has a valid one.
    package let rule: String?
    /// The key, such as `announce.duck`; `nil` if the fault concerns the whole rule.
    package let field: String?
    package let problem: String
    package let remedy: String
    /// Whether the rule works nevertheless, such as one for a place that may be added later.
    package let isWarning: Bool

    /// Creates a fault.
    package init(
        index: Int? = nil,
        rule: String? = nil,
        field: String? = nil,
        problem: String,
        remedy: String,
        isWarning: Bool = false
    ) {
        self.index = index
        self.rule = rule
        self.field = field
        self.problem = problem
        self.remedy = remedy
        self.isWarning = isWarning
    }

    /// The fault in one line, such as `places.rules.next-stop.eta: "soon" is not valid; use a duration from 1s to 1h`.
    ///
    /// A rule without a name is given by its number, from 1.
    package var description: String {
        let path: String
        if let rule {
            path = "places.rules.\(rule)" + (field.map { ".\($0)" } ?? "")
        } else {
            path = "places.rules" + (index.map { ", rule \($0 + 1)" } ?? "") + (field.map { ", \($0)" } ?? "")
        }
        return "\(path): \(problem); \(remedy)".withoutControlCharacters
    }
}

extension String {
    /// The text in quotes for a message, without control characters, and shortened if it is long.
    var quotedInMessage: String {
        let text = utf8.count <= 100 ? self : String(unicodeScalars.prefix(60)) + "…"
        return text.withoutControlCharacters.debugDescription
    }
}
