/// A value of a configuration file, without the syntax of the file.
package indirect enum RuleValue: Sendable {
    case null
    /// A scalar as it is written, such as `5m`, `20%` or `true`.
    case text(String)
    case list([RuleValue])
    /// The keys in their order. A key may be repeated; the rules refuse that.
    case map([(key: String, value: RuleValue)])
}
