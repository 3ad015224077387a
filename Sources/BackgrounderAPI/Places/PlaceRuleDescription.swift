/// A rule of the configuration file: which events at which places start which actions.
package struct PlaceRuleDescription: Codable, Hashable, Sendable {
    /// Unique among the rules.
    package var name: String
    /// The event that it is for.
    package var on: PlaceEventKind
    /// The places with one of these tags; absent means that tags do not matter.
    package var tags: [String]?
    /// The places with one of these names; absent means that names do not matter.
    package var places: [String]?
    /// Of `approach`: so many seconds before the arrival.
    package var eta: Double?
    /// Of `approach`: so many metres before the boundary.
    package var within: Double?
    /// Of `dwell`: after so many seconds.
    package var dwell: Double?
    /// `visit`, `trip`, `day`, `ever` or `always`.
    package var once: String
    /// For how many seconds it does not fire again at a place.
    package var cooldown: Double?
    /// The local time of day, such as `05:00-23:00`.
    package var hours: String?
    /// The template of the path of a file.
    package var announce: String?
    /// The template of a text.
    package var say: String?
    /// The level of the music meanwhile, 0 to 1; absent means that it is on hold.
    package var duck: Double?
    /// Of the announcement; a higher one plays first.
    package var priority: Int?
    /// How many seconds after the event the announcement may begin.
    package var expires: Double?
    /// The fetch source.
    package var fetch: String?
    /// The task hook.
    package var task: String?
    /// The reasons for which it does not work, such as a place that does not exist; each in one line.
    package var problems: [String]

    /// Creates a description.
    package init(name: String, on: PlaceEventKind, once: String, problems: [String] = []) {
        self.name = name
        self.on = on
        self.once = once
        self.problems = problems
    }
}
