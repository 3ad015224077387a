package import Places

/// Values as literals, such as `["name": "a", "tags": ["stop"], "fetch": nil]`.
extension RuleValue: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// Creates a text.
    package init(stringLiteral text: String) { self = .text(text) }

    /// Creates a list.
    package init(arrayLiteral values: RuleValue...) { self = .list(values) }

    /// Creates a mapping with its keys in their order, which may be repeated.
    package init(dictionaryLiteral entries: (String, RuleValue)...) {
        self = .map(entries.map { (key: $0.0, value: $0.1) })
    }

    /// Creates a value that is absent.
    package init(nilLiteral: ()) { self = .null }
}
