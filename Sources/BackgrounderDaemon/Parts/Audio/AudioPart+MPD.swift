import MPDServer
import MusicLibrary
import SystemSupport

extension AudioPart {
    /// Creates the server for MPD clients and binds its sockets.
    ///
    /// - Throws: ``StartError`` if an address is in use.
    func makeMPDServer() async throws -> MPDServer {
        let configuration = context.initialConfiguration
        music?.connect { [mpdHub] event in
            switch event {
            case .update: mpdHub.changed(.update)
            case .database: mpdHub.changed(.database)
            case .playlists: mpdHub.changed(.storedPlaylist)
            }
        }
        do {
            return try await MPDServer.bind(
                socket: context.paths.mpdSocket,
                addresses: configuration.value(Keys.mpdListen),
                access: MPDAccess(
                    passwords: configuration.mpdPasswords,
                    defaultPermissions: configuration.value(Keys.mpdDefaultPermissions)?.reduce([]) { $0.union($1) }
                ),
                player: PlayerAdapter(player: player, context: context),
                database: music,
                hub: mpdHub,
                group: context.group,
                logger: context.logger
            )
        } catch {
            throw StartError("\(error); use another address in mpd.listen, or stop the program that uses this one")
        }
    }
}
