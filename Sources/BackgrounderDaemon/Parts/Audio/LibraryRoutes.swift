import AudioPlayback
import BackgrounderAPI
import ControlServer
import FoundationEssentials
import MPDServer
import MediaFiles
import MusicLibrary

extension AudioPart {
    static let noLibrary = WireError(
        .conflict,
        "there is no music directory",
        hint: "set audio.musicDirectory in the configuration and restart"
    )

    /// Adds the routes that show the music directory and the pictures of items.
    func addLibraryRoutes(to router: inout ControlRouter) {
        router.on(Routes.library, query: ["path"]) { request in
            guard let music else { throw Self.noLibrary }
            return try await music.content(of: request.query("path") ?? "")
        }
        router.onContent(Routes.coverPath, query: ["item"]) { request in
            guard let item = try await item(request) else { return nil }
            // The path of an item is absolute; an address has no picture.
            guard item.path.hasPrefix("/"), let picture = await covers.picture(of: String(item.path.dropFirst())) else {
                return nil
            }
            return Content(image: Data(picture.bytes), type: picture.type)
        }
    }

    /// Returns the item in the parameter `item`, or the current one; `nil` if there is none.
    private func item(_ request: RouteRequest<Empty>) async throws -> PlayerItem? {
        guard let text = request.query("item") else { return await player.status().currentItem }
        guard let id = Int(text) else {
            throw WireError(.invalid, "item=\(text) is not an id", hint: "use the id of an item")
        }
        guard let item = await player.item(id: id) else {
            throw WireError(.notFound, "no item \(id)", hint: "`backgrounder queue` lists the items")
        }
        return item
    }
}

extension MusicDatabase {
    /// Returns the content of a folder.
    fileprivate func content(of path: String) async throws -> MusicFolderContent {
        var content = MusicFolderContent(path: path, folders: [], songs: [])
        do {
            for entry in try await entries(in: path) {
                switch entry {
                case .folder(let path, _):
                    content.folders.append(path.split(separator: "/").last.map(String.init) ?? "")
                case .song(let song): content.songs.append(song)
                case .playlist: break
                }
            }
        } catch let error as MPDDatabaseError {
            switch error {
            case .noSuchEntry:
                let hint = "`GET /v1/library` lists the folders"
                throw WireError(.notFound, "no folder \(path.debugDescription) in the music directory", hint: hint)
            default: throw WireError(.unavailable, "\(error)", hint: "see the log")
            }
        }
        return content
    }
}
