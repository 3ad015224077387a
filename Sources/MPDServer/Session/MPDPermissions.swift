/// The permissions of a client, as in MPD
/// (https://mpd.readthedocs.io/en/v0.23.12/user.html#permissions-and-passwords).
package struct MPDPermissions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    /// Creates a set from its bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Read the library, the queue and the status.
    package static let read = MPDPermissions(rawValue: 1)
    /// Add songs and load playlists.
    package static let add = MPDPermissions(rawValue: 2)
    /// Control playback, and change the queue and the options.
    package static let player = MPDPermissions(rawValue: 4)
    /// Edit stored playlists, update the database and send messages. As in MPD, it includes ``player``.
    package static let control: MPDPermissions = [MPDPermissions(rawValue: 8), .player]
    /// Control the outputs.
    package static let admin = MPDPermissions(rawValue: 16)
    package static let all: MPDPermissions = [.read, .add, .control, .admin]

    /// The names of the permissions in the configuration.
    package static let names = ["read", "add", "player", "control", "admin"]

    /// Finds a permission by its name in the configuration; `nil` if there is none.
    package init?(name: some StringProtocol) {
        switch name {
        case "read": self = .read
        case "add": self = .add
        case "player": self = .player
        case "control": self = .control
        case "admin": self = .admin
        default: return nil
        }
    }
}

/// A password and its permissions.
package struct MPDPassword: Hashable, Sendable {
    package let text: String
    package let permissions: MPDPermissions

    /// Creates a password with all permissions; `nil` unless `text` is a line of 1 to 1000 bytes.
    package init?(_ text: String) {
        self.init(text, .all)
    }

    /// Parses MPD's `PASSWORD@PERMISSION,…`, in which the last `@` counts; `nil` for anything else.
    package init?(withPermissions text: String) {
        guard let at = text.lastIndex(of: "@") else { return nil }
        var permissions: MPDPermissions = []
        for name in text[text.index(after: at)...].split(separator: ",", omittingEmptySubsequences: false) {
            guard let permission = MPDPermissions(name: name) else { return nil }
            permissions.formUnion(permission)
        }
        self.init(String(text[..<at]), permissions)
    }

    private init?(_ text: String, _ permissions: MPDPermissions) {
        guard (1...1000).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x20 }) else { return nil }
        (self.text, self.permissions) = (text, permissions)
    }
}

/// The passwords and permissions of clients on TCP. Clients on the Unix socket have all permissions; the mode of its
/// file decides which users can connect.
package struct MPDAccess: Sendable {
    private let passwords: [MPDPassword]
    /// The permissions of a client that has not sent a password.
    let defaultPermissions: MPDPermissions

    /// Creates the access rules of a server.
    ///
    /// - Parameter defaultPermissions: `nil` for MPD's rule: none if there is a password, otherwise all.
    package init(passwords: [MPDPassword] = [], defaultPermissions: MPDPermissions? = nil) {
        self.passwords = passwords
        self.defaultPermissions = defaultPermissions ?? (passwords.isEmpty ? .all : [])
    }

    /// Returns the permissions of a password; `nil` if it is wrong. As in MPD, the first of two equal passwords counts.
    func permissions(for text: String) -> MPDPermissions? {
        var found: MPDPermissions?
        // All passwords are compared, so that the time does not reveal which one matched.
        for password in passwords where password.text.isEqual(to: text) { found = found ?? password.permissions }
        return found
    }
}

extension MPDCommand {
    /// The commands that need a permission other than ``MPDPermissions/read`` (MPD's `command/AllCommands.cxx`).
    static let permissions: [String: MPDPermissions] = {
        let groups: [(MPDPermissions, String)] = [
            (.add, "add addid addtagid cleartagid findadd load rangeid searchadd"),
            (
                .player,
                """
                clear clearerror consume crossfade delete deleteid mixrampdb mixrampdelay move moveid next pause play playid \
                previous prio prioid random repeat replay_gain_mode seek seekcur seekid setvol shuffle single stop swap \
                swapid volume
                """
            ),
            (
                .control,
                """
                findaddpl playlistadd playlistclear playlistdelete playlistmove rename rescan rm save searchaddpl sendmessage \
                update
                """
            ),
            (
                .admin,
                """
                config delpartition disableoutput enableoutput kill mount moveoutput newpartition outputset sticker \
                toggleoutput unmount
                """
            ),
        ]
        return Dictionary(
            uniqueKeysWithValues: groups.flatMap { permission, names in
                names.split(separator: " ").map { (String($0), permission) }
            }
        )
    }()
}

extension String {
    /// Compares in constant time: the time depends on the lengths of the texts, not on their contents.
    fileprivate func isEqual(to other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return zip(utf8, other.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
