/// The subsystems that a client can wait for with `idle`, in MPD's order.
package struct MPDSubsystem: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    /// Creates a set from its bits.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let database = Self(rawValue: 1 << 0)
    package static let storedPlaylist = Self(rawValue: 1 << 1)
    package static let playlist = Self(rawValue: 1 << 2)
    package static let player = Self(rawValue: 1 << 3)
    package static let mixer = Self(rawValue: 1 << 4)
    package static let output = Self(rawValue: 1 << 5)
    package static let options = Self(rawValue: 1 << 6)
    package static let sticker = Self(rawValue: 1 << 7)
    package static let update = Self(rawValue: 1 << 8)
    package static let subscription = Self(rawValue: 1 << 9)
    package static let message = Self(rawValue: 1 << 10)
    package static let neighbor = Self(rawValue: 1 << 11)
    package static let mount = Self(rawValue: 1 << 12)
    package static let partition = Self(rawValue: 1 << 13)

    static let all = Self(rawValue: (1 << 14) - 1)

    private static let words = [
        "database", "stored_playlist", "playlist", "player", "mixer", "output", "options", "sticker", "update",
        "subscription", "message", "neighbor", "mount", "partition",
    ]

    /// Finds a subsystem by its name, ignoring case; `nil` if there is none.
    init?(name: String) {
        guard let index = Self.words.firstIndex(of: name.lowercased()) else { return nil }
        self.init(rawValue: 1 << UInt16(index))
    }

    var names: [String] {
        Self.words.indices.filter { contains(Self(rawValue: 1 << UInt16($0))) }.map { Self.words[$0] }
    }
}
