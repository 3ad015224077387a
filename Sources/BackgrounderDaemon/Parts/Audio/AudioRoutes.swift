import AudioPlayback
import BackgrounderAPI
import ControlServer
import MediaFiles

extension AudioPart {
    func addRoutes(to router: inout ControlRouter) {
        router.on(Routes.audio) { _ in await reporting(player.status()) }
        router.on(Routes.changeAudio) { request in
            let change = request.body
            return await reporting(
                try await player.setOptions(
                    volume: change.volume,
                    repeat: change.repeat,
                    single: change.single,
                    consume: change.consume,
                    random: change.random,
                    replayGain: change.replayGain,
                    outputEnabled: change.outputEnabled
                )
            )
        }
        router.on(Routes.play, requires: .audio) { request in
            switch (request.body.id, request.body.items) {
            case (nil, nil): return await reporting(try await player.play())
            case (let id?, nil): return await reporting(try await player.play(id: id))
            case (nil, let items?):
                let paths = try locations(items, isRemote: request.isRemote)
                return await reporting(try await player.play(paths: paths, within: scope(for: request.access)))
            case (_?, _?): throw WireError(.invalid, "id and items exclude each other", hint: "use one of them")
            }
        }
        router.on(Routes.pause) { _ in await reporting(player.pause()) }
        router.on(Routes.toggle, requires: .audio) { _ in
            await reporting(try await player.toggle())
        }
        router.on(Routes.stopAudio) { _ in await reporting(player.stop()) }
        router.on(Routes.next, requires: .audio) { _ in
            await reporting(try await player.next())
        }
        router.on(Routes.previous, requires: .audio) { _ in
            await reporting(try await player.previous())
        }
        router.on(Routes.seek) { request in
            switch (request.body.to, request.body.by) {
            case (let to?, nil): return await reporting(try await player.seek(to: to))
            case (nil, let by?): return await reporting(try await player.seek(by: by))
            default: throw WireError(.invalid, "a seek needs either to or by", hint: "use one of them")
            }
        }
        router.on(Routes.interrupt, requires: .audio) { request in
            let body = request.body
            return await reporting(
                try await player.interrupt(
                    with: path(body.item, isRemote: request.isRemote),
                    within: scope(for: request.access),
                    duck: body.duck,
                    priority: body.priority ?? 0
                )
            )
        }
        router.on(Routes.drivers) { _ in await player.drivers() }
        addQueueRoutes(to: &router)
        addLibraryRoutes(to: &router)
    }

    private func addQueueRoutes(to router: inout ControlRouter) {
        router.onItems(Routes.queue, query: ["around"]) { request in
            guard let text = request.query("around") else { return await player.queue() }
            guard let id = Int(text) else {
                throw WireError(.invalid, "around=\(text) is not an id", hint: "use the id of an item")
            }
            guard let items = await player.items(around: id, most: StateSnapshot.mostItems) else {
                throw WireError(.notFound, "no item \(id)", hint: "`backgrounder queue` lists the items")
            }
            return items
        }
        router.onItems(Routes.enqueue) { request in
            let paths = try locations(request.body.items, isRemote: request.isRemote)
            let scope = scope(for: request.access)
            switch (request.body.position, request.body.after) {
            case (nil, nil): return try await player.append(paths, within: scope)
            case (let position?, nil): return try await player.insert(paths, at: position, within: scope)
            case (nil, .current): return try await player.insert(paths, within: scope)
            case (_?, _?): throw WireError(.invalid, "position and after exclude each other", hint: "use one of them")
            }
        }
        router.on(Routes.clearQueue) { _ in
            try await player.clear()
            return Empty()
        }
        router.onItems(Routes.shuffleQueue) { _ in
            try await player.shuffle()
            return await player.queue()
        }
        router.on(Routes.moveItem) { request in try await player.move(id: request.id, to: request.body.position) }
        router.on(Routes.removeItem) { request in
            try await player.remove(id: request.id)
            return Empty()
        }
        router.on(Routes.removeItems) { request in
            guard !request.body.ids.isEmpty else {
                throw WireError(.invalid, "ids is empty", hint: "pass at least one id")
            }
            try await player.remove(ids: request.body.ids)
            return Empty()
        }
    }

    /// Returns which files the caller may have opened: those of the music folder, or any file with the right to execute.
    private func scope(for access: AccessLevel) -> MediaScope {
        access >= .execute ? .everywhere : .folder(musicDirectory)
    }

    private func locations(_ paths: [String], isRemote: Bool) throws(WireError) -> [String] {
        guard !paths.isEmpty else { throw WireError(.invalid, "items is empty", hint: "pass at least one path") }
        return try paths.map { path throws(WireError) in
            !isRemote && StreamAddress.isAddress(path) ? path : try self.path(path, isRemote: isRemote)
        }
    }

    /// Returns an absolute path. A page names paths relative to the music directory, and no others.
    private func path(_ path: String, isRemote: Bool) throws(WireError) -> String {
        guard isRemote else { return try Self.absolute(path) }
        guard let music else { throw Self.noLibrary }
        guard !StreamAddress.isAddress(path), let relative = music.absolutePath(ofRelative: path) else {
            throw WireError(
                .forbidden,
                "\(path.debugDescription) is not a path below the music directory",
                hint: "a page can play only what audio.musicDirectory contains"
            )
        }
        return relative
    }

    private static func absolute(_ path: String) throws(WireError) -> String {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw WireError(
                .invalid,
                "\(path.debugDescription) is not an absolute path",
                hint: "use a path that begins with /"
            )
        }
        return path
    }
}
