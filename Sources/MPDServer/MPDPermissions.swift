/// What a client may do: MPD's permissions (https://mpd.readthedocs.io/en/v0.23.12/user.html#permissions-and-passwords).
package struct MPDPermissions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Look at the library, the queue and the status.
    package static let read = MPDPermissions(rawValue: 1)
    /// Add songs and load playlists.
    package static let add = MPDPermissions(rawValue: 2)
    /// Play, and change the queue and the options.
    package static let player = MPDPermissions(rawValue: 4)
    /// What ``player`` allows, and stored playlists, updates and messages. As in MPD, it has ``player`` in it.
    package static let control: MPDPermissions = [MPDPermissions(rawValue: 8), .player]
    /// Outputs.
    package static let admin = MPDPermissions(rawValue: 16)
    package static let all: MPDPermissions = [.read, .add, .control, .admin]

    /// The names, as the configuration has them.
    package static let names = ["read", "add", "player", "control", "admin"]

    /// `nil` for what is not the name of a permission.
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

/// A password and what it allows.
package struct MPDPassword: Hashable, Sendable {
    package let text: String
    package let permissions: MPDPermissions

    /// One that allows everything; `nil` unless it is a line of 1 to 1000 bytes.
    package init?(_ text: String) {
        self.init(text, .all)
    }

    /// MPD's `PASSWORD@PERMISSION,…`, where the last @ counts; `nil` for anything else.
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

/// What clients on TCP may do; those on the Unix socket, whose file decides who they are, may do everything.
package struct MPDAccess: Sendable {
    private let passwords: [MPDPassword]
    /// Of a client that has given no password.
    let defaultPermissions: MPDPermissions

    /// - Parameter defaultPermissions: `nil` for MPD's rule: none where there is a password, else all.
    package init(passwords: [MPDPassword] = [], defaultPermissions: MPDPermissions? = nil) {
        self.passwords = passwords
        self.defaultPermissions = defaultPermissions ?? (passwords.isEmpty ? .all : [])
    }

    /// What `text` allows; `nil` where it is not a password. Of two equal passwords the first counts, as in MPD.
    func permissions(for text: String) -> MPDPermissions? {
        var found: MPDPermissions?
        // All are compared, so that the time tells nothing of which.
        for password in passwords where password.text.isEqual(to: text) { found = found ?? password.permissions }
        return found
    }
}

extension MPDCommand {
    /// Permissions other than ``MPDPermissions/read`` that MPD asks for (`command/AllCommands.cxx`).
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
    /// Takes as long whatever the other text is, but for its length.
    fileprivate func isEqual(to other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return zip(utf8, other.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
