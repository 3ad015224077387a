import BackgrounderAPI

/// A request that a key sends to the service.
enum KeyRequest: Hashable, Sendable {
    case toggle, next, previous
    /// In seconds.
    case seek(by: Double)
    /// In per cent.
    case volume(by: Int)
    case play(Int)
    case remove(Int)
    /// Moves the item with this id by a number of positions.
    case move(Int, by: Int)
}

extension Client {
    /// Sends a request. Call it again when it has returned: a relative change starts from the state that the previous one
    /// left, so that quick presses of a key add up.
    func send(_ request: KeyRequest) async throws {
        switch request {
        case .toggle: _ = try await call(Routes.toggle)
        case .next: _ = try await call(Routes.next)
        case .previous: _ = try await call(Routes.previous)
        case .seek(let seconds): try await seek(by: seconds)
        case .volume(let change):
            let volume = try await call(Routes.audio).volume
            _ = try await call(Routes.changeAudio, body: AudioChange(volume: max(0, min(100, volume + change))))
        case .play(let id): _ = try await call(Routes.play, body: PlayRequest(id: id))
        case .remove(let id): _ = try await call(Routes.removeItems, body: RemoveRequest(ids: [id]))
        case .move(let id, let distance):
            let items = try await items(around: id) ?? []
            guard let item = items.first(where: { $0.id == id }) else { return }
            // An item at an end of the queue stays there.
            let position = item.position + distance
            guard items.contains(where: { $0.position == position }) else { return }
            _ = try await call(Routes.moveItem, body: MoveRequest(position: position), id: id)
        }
    }

    /// Returns the items around the one with `id`; `nil` if there is no such item.
    func items(around id: Int) async throws -> [PlayerItem]? {
        do {
            return try await call(Routes.queue, query: [("around", String(id))])
        } catch let failure as CommandFailure where failure.exitCode == 4 {
            return nil
        }
    }

    private func seek(by seconds: Double) async throws {
        do {
            _ = try await call(Routes.seek, body: SeekRequest(by: seconds))
        } catch {
            // Ahead of the end is the next item, as in other players.
            guard seconds > 0, let audio = try? await call(Routes.audio), let elapsed = audio.elapsed,
                let duration = audio.currentItem?.duration, elapsed + seconds >= duration
            else { throw error }
            _ = try await call(Routes.next)
        }
    }
}
