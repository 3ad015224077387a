package import AudioPlayback
package import BackgrounderAPI
import ControlServer
package import MediaFiles

extension PlayerError: WireErrorConvertible {
    /// The error as it crosses the socket.
    package var wireError: WireError {
        switch self {
        case .notStored:
            WireError(.unavailable, description, hint: "run `backgrounder doctor`")
        case .emptyQueue: WireError(.conflict, description, hint: "add files with `backgrounder queue add FILE`")
        case .pastEnd: WireError(.conflict, description, hint: "skip the item with `backgrounder audio next`")
        case .stopped: WireError(.conflict, description, hint: "start playback first")
        case .tooManyAnnouncements:
            WireError(
                .conflict,
                description,
                hint: "wait for one to end, or discard them with `backgrounder audio stop`"
            )
        case .queueFull: WireError(.conflict, description, hint: "remove some items, or add fewer")
        case .outputDisabled: WireError(.conflict, description, hint: "backgrounder audio output on")
        case .suspended: WireError(.conflict, description, hint: "add audio to modes, or attach")
        case .noSuchItem: WireError(.notFound, description, hint: "`backgrounder queue` lists the ids")
        case .notSeekable: WireError(.conflict, description, hint: "a live stream plays from now on only")
        case .invalidPosition, .invalidVolume, .invalidDuck, .invalidTime, .unknownDriver:
            WireError(.invalid, description)
        }
    }
}

extension MediaError: WireErrorConvertible {
    /// The error as it crosses the socket.
    package var wireError: WireError {
        switch self {
        case .outside:
            WireError(
                .forbidden,
                description,
                hint: "name files in audio.musicDirectory; other files need a user named in control.execute"
            )
        case .foreignAddress:
            WireError(.forbidden, description, hint: "queueing an address needs a user named in control.execute")
        case .invalidAddress: WireError(.invalid, description, hint: "use an https or http URL")
        case .notAFile: WireError(.notFound, description, hint: "name an audio file")
        case .noSuchPath, .noMedia, .emptyPlaylist: WireError(.notFound, description, hint: "check the path")
        case .notPlayableKind:
            WireError(.notFound, description, hint: "name an audio file, or a folder of them")
        case .unreadable:
            WireError(.notFound, description, hint: "name a readable file or folder")
        case .notAudio:
            WireError(.notFound, description, hint: "name an audio file, such as MP3, WAV, FLAC, Ogg, Opus or AIFF")
        case .tooMany: WireError(.invalid, description, hint: "name fewer files")
        }
    }
}
