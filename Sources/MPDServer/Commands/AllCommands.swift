extension MPDCommand {
    /// All commands, by name.
    static let all: [String: MPDCommand] = Dictionary(
        uniqueKeysWithValues: [
            connectionCommands, playbackCommands, optionCommands, statusCommands, queueCommands, queueEditingCommands,
            databaseCommands, pictureCommands, searchCommands, storedPlaylistCommands, stickerCommands, messageCommands,
            refusedCommands,
        ].joined().map { ($0.name, $0) }
    )

    private static let refusedCommands: [MPDCommand] =
        ["kill", "config"].map {
            MPDCommand(refused: $0, MPDError(.permission, "you don't have permission for \"\($0)\""))
        }
        + ["rangeid"].map {
            MPDCommand(refused: $0, MPDError(.unknown, "playing part of a song is not supported; use seek"))
        }
        + ["addtagid", "cleartagid"].map {
            MPDCommand(refused: $0, MPDError(.unknown, "tags come from the files and cannot be set"))
        }
        + ["newpartition", "delpartition", "moveoutput"].map {
            MPDCommand(refused: $0, MPDError(.unknown, "the only partition is \"default\""))
        }
        + ["mount", "unmount", "listneighbors", "listfiles", "getfingerprint", "readcomments"].map {
            MPDCommand(refused: $0, MPDError(.unknown, "\"\($0)\" is not supported"))
        }
}
