import SystemSupport

/// The error of a command, as an `ACK` line reports it.
///
/// The codes are those of MPD's `protocol/Ack.hxx`.
struct MPDError: Error, Hashable, Sendable {
    enum Code: Int, Sendable {
        case argument = 2
        case password = 3
        case permission = 4
        case unknown = 5
        case noExist = 50
        case playlistMax = 51
        case system = 52
        case playerSync = 55
        case exists = 56
    }

    var code: Code
    var text: String
    /// Whether the line names the command; false if the command itself was not understood.
    var namesCommand: Bool

    init(_ code: Code, _ text: String, namesCommand: Bool = true) {
        self.code = code
        self.text = text
        self.namesCommand = namesCommand
    }

    static let badSongIndex = MPDError(.argument, "Bad song index")
    static let noSuchSong = MPDError(.noExist, "No such song")
    static let noSuchDirectory = MPDError(.noExist, "No such directory")
    static let notPlaying = MPDError(.playerSync, "Not playing")
    static let noCurrentSong = MPDError(.playerSync, "No current song")

    /// Returns the `ACK` line for the command at `index` of a command list.
    func line(command: String, index: Int) -> String {
        let text = text.withoutControlCharacters
        return "ACK [\(code.rawValue)@\(index)] {\(namesCommand ? command : "")} \(text)\n"
    }
}
