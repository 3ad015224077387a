import AudioPlayback
import BackgrounderAPI
import MPDServer
import NIOCore

extension Daemon {
    /// Creates the server for MPD clients and binds its sockets, with modes according to the current umask(2).
    ///
    /// - Throws: ``StartError`` if an address is in use.
    func makeMPDServer(_ configuration: DaemonConfiguration, group: any EventLoopGroup) async throws -> MPDServer {
        music?.connect { [mpdHub] event in
            switch event {
            case .update: mpdHub.changed(.update)
            case .database: mpdHub.changed(.database)
            case .playlists: mpdHub.changed(.storedPlaylist)
            }
        }
        do {
            return try await MPDServer.bind(
                socket: paths.mpdSocket,
                addresses: configuration.value(Keys.mpdListen),
                access: MPDAccess(
                    passwords: configuration.mpdPasswords,
                    defaultPermissions: configuration.value(Keys.mpdDefaultPermissions)?.reduce([]) { $0.union($1) }
                ),
                player: PlayerAdapter(player: player, modes: modes, lifecycle: lifecycle),
                database: music,
                hub: mpdHub,
                group: group,
                logger: logger
            )
        } catch {
            throw StartError("\(error); use another address in mpd.listen, or stop the program that uses this one")
        }
    }
}
