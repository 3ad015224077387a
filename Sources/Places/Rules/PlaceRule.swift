package import BackgrounderAPI

/// A rule of the configuration file: which events at which places start which actions.
package struct PlaceRule: Hashable, Sendable {
    /// How often a rule fires for a place.
    package enum Once: String, CaseIterable, Sendable {
        case visit, trip, day, ever, always
    }

    /// The places of a rule.
    package enum Scope: Hashable, Sendable {
        case all
        /// Places with at least one of these tags.
        case tags([String])
        /// Places with one of these names.
        case places([String])
    }

    /// A sound that is played over the music or instead of it.
    package struct Announcement: Hashable, Sendable {
        /// The source of the sound.
        package enum Content: Hashable, Sendable {
            /// The path of a file.
            case item(PlaceTemplate)
            /// A text to be spoken.
            case text(PlaceTemplate)
        }

        package var content: Content
        /// The factor for the volume of the music meanwhile, 0 to 1; without it, the music is on hold.
        package var duck: Double?
        /// A higher priority plays first.
        package var priority = 0
        /// How long after the event it may begin.
        package var expires = defaultExpiry

        /// The time in which an announcement must begin if the rule has none.
        package static let defaultExpiry = Duration.seconds(30)

        /// Creates an announcement.
        package init(
            _ content: Content,
            duck: Double? = nil,
            priority: Int = 0,
            expires: Duration = defaultExpiry
        ) {
            self.content = content
            self.duck = duck
            self.priority = priority
            self.expires = expires
        }
    }

    /// Unique among the rules.
    package var name: String
    /// The events that it is for.
    package var event: PlaceEventKind
    /// The time or distance of `approach` and `dwell`.
    package var watch: PlaceWatch?
    package var scope: Scope
    package var once: Once
    /// How long it does not fire again for a place.
    package var cooldown: Duration?
    package var hours: DailyHours?
    package var announcement: Announcement?
    /// The name of a fetch source.
    package var fetch: String?
    /// The name of a task hook.
    package var task: String?

    /// Creates a rule.
    package init(
        name: String,
        on event: PlaceEventKind,
        watch: PlaceWatch? = nil,
        scope: Scope = .all,
        once: Once = .visit,
        cooldown: Duration? = nil,
        hours: DailyHours? = nil,
        announcement: Announcement? = nil,
        fetch: String? = nil,
        task: String? = nil
    ) {
        self.name = name
        self.event = event
        self.watch = watch
        self.scope = scope
        self.once = once
        self.cooldown = cooldown
        self.hours = hours
        self.announcement = announcement
        self.fetch = fetch
        self.task = task
    }

    /// Returns whether the rule is for a place. ``PlaceRuleIndex`` finds such rules without asking each.
    package func applies(to place: PlaceDefinition) -> Bool {
        switch scope {
        case .all: true
        case .tags(let tags): tags.contains(where: place.tags.contains)
        case .places(let names): names.contains(place.name)
        }
    }

    /// An action of a rule.
    enum Action: Sendable {
        case announce(Announcement)
        case fetch(String)
        case task(String)

        var kind: PlaceAction.Kind {
            switch self {
            case .announce(let announcement):
                switch announcement.content {
                case .item: .announce
                case .text: .say
                }
            case .fetch: .fetch
            case .task: .task
            }
        }
    }

    /// The actions in the order in which they start.
    var actions: [Action] {
        [announcement.map { .announce($0) }, fetch.map { .fetch($0) }, task.map { .task($0) }].compactMap(\.self)
    }

    /// The priority among the rules that fire at the same time.
    var priority: Int { announcement?.priority ?? 0 }
}
