import ArgumentParser
import BackgrounderAPI

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "The items that play: list, add, insert, move, remove.",
        discussion: """
            EXAMPLES
              backgrounder queue
              backgrounder queue add media/ announcement.wav
              backgrounder queue insert now.mp3        # right after the current item
              backgrounder queue move 7 0
              backgrounder queue load trip.m3u
            """,
        subcommands: [
            List.self, Add.self, Insert.self, Remove.self, Move.self, Clear.self, Shuffle.self, Load.self, Save.self,
        ],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "All items in their order.")
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try await reading.use { client in
                let items = try await client.call(Routes.queue)
                switch reading.format {
                case .json: try Output.json(items)
                case .table:
                    let current = try await client.call(Routes.audio).currentItem?.id
                    try Output.print(table(items, current: current))
                }
            }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add files and folders at the end; prints their ids.")
        @Argument(help: ArgumentHelp("Files and folders.", valueName: "item"))
        var items: [String]
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let request = EnqueueRequest(items: items.map { RuntimePaths.absolute($0) })
            try printIDs(try await reading.use { try await $0.call(Routes.enqueue, body: request) }, reading)
        }
    }

    struct Insert: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add files and folders after the current item; prints their ids."
        )
        @Argument(help: ArgumentHelp("Files and folders.", valueName: "item"))
        var items: [String]
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let paths = items.map { RuntimePaths.absolute($0) }
            let added = try await reading.use { client in
                let current = try await client.call(Routes.audio).currentItem
                let request = EnqueueRequest(items: paths, position: current.map { $0.position + 1 } ?? 0)
                return try await client.call(Routes.enqueue, body: request)
            }
            try printIDs(added, reading)
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove items by their ids.")
        @Argument var id: [Int]
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try await reading.use { client in
                for id in id { _ = try await client.call(Routes.removeItem, id: id) }
            }
        }
    }

    struct Move: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Move an item to a position, counted from 0.")
        @Argument var id: Int
        @Argument var position: Int
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let request = MoveRequest(position: position)
            let item = try await reading.use { try await $0.call(Routes.moveItem, body: request, id: id) }
            try reading.show(item) { "\($0.name) is at position \($0.position)".withoutControlCharacters }
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove all items.")
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            _ = try await reading.use { try await $0.call(Routes.clearQueue) }
        }
    }

    struct Shuffle: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Put the items into a random order.")
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let items = try await reading.use { try await $0.call(Routes.shuffleQueue) }
            try reading.show(items) { table($0, current: nil) }
        }
    }

    struct Load: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add the items of a playlist; prints their ids.")
        @Argument(help: ArgumentHelp("A playlist; its paths are relative to its folder.", valueName: "file.m3u"))
        var file: String
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let playlist = try Playlist(path: RuntimePaths.absolute(file))
            if !playlist.paths.isEmpty {
                let request = EnqueueRequest(items: playlist.paths)
                try printIDs(try await reading.use { try await $0.call(Routes.enqueue, body: request) }, reading)
            }
            if let first = playlist.missing.first {
                let more = playlist.missing.count > 1 ? " and \(playlist.missing.count - 1) more are missing" : ""
                throw CommandFailure("\(first)\(more); the others were added")
            }
        }
    }

    struct Save: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Write the queue to a playlist.")
        @Argument(help: ArgumentHelp("The playlist to write.", valueName: "file.m3u"))
        var file: String
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let items = try await reading.use { try await $0.call(Routes.queue) }
            try Playlist.write(items, to: RuntimePaths.absolute(file))
        }
    }
}

private func printIDs(_ items: [PlayerItem], _ reading: ReadingOptions) throws {
    try reading.show(items) { $0.map { String($0.id) }.joined(separator: "\n") }
}

private func table(_ items: [PlayerItem], current: Int?) -> String {
    guard !items.isEmpty else { return "The queue is empty; add something with `backgrounder queue add FILE`." }
    var table = Table([
        ("", .left), ("POS", .right), ("ID", .right), ("LENGTH", .right), ("ITEM", .left), ("FORMAT", .left),
    ])
    for item in items {
        let format = [item.codec, item.sampleRate.map { "\($0) Hz" }].compactMap(\.self).joined(separator: " ")
        table.add([
            item.id == current ? "▶" : "", String(item.position), String(item.id),
            item.duration.map(Durations.clock) ?? "", item.name, format,
        ])
    }
    return table.render()
}
