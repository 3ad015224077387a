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
        static let configuration = CommandConfiguration(
            abstract: "All items in their order.",
            discussion: """
                EXAMPLES
                  backgrounder queue list
                  backgrounder queue list --format json | jq '.[].path'
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try await reading.use { client in
                let items = try await client.call(Routes.queue)
                switch reading.format {
                case .json: try Output.items(items)
                case .table:
                    let current = try await client.call(Routes.audio).currentItem?.id
                    try Output.print(table(items, current: current))
                }
            }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add files, folders and playlists at the end; prints their ids.",
            discussion: """
                EXAMPLES
                  backgrounder queue add ~/music
                  backgrounder queue add media/ announcement.wav trip.m3u
                """
        )
        @Argument(help: ArgumentHelp("Files, folders and playlists.", valueName: "item"))
        var items: [String]
        @OptionGroup var reading: ReadingOptions

        func validate() throws { try requireNames(items) }

        func run() async throws {
            let request = EnqueueRequest(items: items.map { RuntimePaths.absolute($0) })
            try await reading.use { try await show(Added(request, by: $0, as: reading.format)) }
        }
    }

    struct Insert: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add files, folders and playlists after the current item; prints their ids.",
            discussion: """
                EXAMPLE
                  backgrounder queue insert now.mp3        # right after the current item
                """
        )
        @Argument(help: ArgumentHelp("Files, folders and playlists.", valueName: "item"))
        var items: [String]
        @OptionGroup var reading: ReadingOptions

        func validate() throws { try requireNames(items) }

        func run() async throws {
            let request = EnqueueRequest(items: items.map { RuntimePaths.absolute($0) }, after: .current)
            try await reading.use { try await show(Added(request, by: $0, as: reading.format)) }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove items by their ids, all of them or none.",
            discussion: """
                EXAMPLES
                  backgrounder queue remove 7
                  backgrounder queue remove 7 8 12
                """
        )
        @Argument(transform: parseID) var id: [Int]
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let request = RemoveRequest(ids: id)
            _ = try await reading.use { try await $0.call(Routes.removeItems, body: request) }
        }
    }

    struct Move: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move an item to a position, counted from 0.",
            discussion: """
                EXAMPLE
                  backgrounder queue move 7 0              # item 7 becomes the first
                """
        )
        @Argument(transform: parseID) var id: Int
        @Argument(transform: wholeNumber("a place in the queue, from 0 on")) var position: Int
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let request = MoveRequest(position: position)
            let item = try await reading.use { try await $0.call(Routes.moveItem, body: request, id: id) }
            try reading.show(item) { "\($0.name) is at position \($0.position)".withoutControlCharacters }
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove all items.",
            discussion: """
                EXAMPLE
                  backgrounder queue clear
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            _ = try await reading.use { try await $0.call(Routes.clearQueue) }
        }
    }

    struct Shuffle: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Put the items into a random order.",
            discussion: """
                EXAMPLE
                  backgrounder queue shuffle
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let items = try await reading.use { try await $0.call(Routes.shuffleQueue) }
            try reading.show(items) { table($0, current: nil) }
        }
    }

    struct Load: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add the items of a playlist; prints their ids.",
            discussion: """
                EXAMPLE
                  backgrounder queue load trip.m3u
                """
        )
        @Argument(
            help: ArgumentHelp("An M3U, M3U8 or PLS; its paths are relative to its folder.", valueName: "file.m3u")
        )
        var file: String
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            var playlist = try Playlist(path: RuntimePaths.absolute(file))
            let format = reading.format
            let added = try await reading.use { client in
                let pieces = try await playlist.add { [try await Added($0, by: client, as: format)] }
                return pieces.reduce(Added()) { $0 + $1 }
            }
            if !added.isEmpty { try show(added) }
            let faults = playlist.faults
            guard let last = faults.last else { return }
            for fault in faults.dropLast() { Output.note(fault) }
            throw CommandFailure("\(last); \(added.isEmpty ? "nothing was added" : "the others were added")")
        }
    }

    struct Save: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the queue to a playlist.",
            discussion: """
                EXAMPLES
                  backgrounder queue save trip.m3u
                  backgrounder queue save trip.pls
                """
        )
        @Argument(help: ArgumentHelp("The playlist to write: M3U, or PLS for file.pls.", valueName: "file.m3u"))
        var file: String
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let items = try await reading.use { try await $0.call(Routes.queue) }
            try Playlist.write(items, to: RuntimePaths.absolute(file))
        }
    }
}

/// Refuses a name that is empty, such as that of a script's variable without a value: as a path it would be this folder.
func requireNames(_ items: [String]) throws {
    if items.contains("") { throw ValidationError("\"\" is no item: give a file, a folder or a playlist") }
}

/// What was added, as far as it is printed: of 100,000 items a table needs the ids alone.
private enum Added {
    case ids([ItemID])
    case items([PlayerItem])

    struct ItemID: Codable, Sendable {
        var id: Int
    }

    init() { self = .ids([]) }

    init(_ request: EnqueueRequest, by client: Client, as format: OutputFormat) async throws {
        switch format {
        case .table:
            let route = Route<EnqueueRequest, [ItemID]>(
                Routes.enqueue.method,
                Routes.enqueue.path,
                status: Routes.enqueue.status
            )
            self = .ids(try await client.call(route, body: request))
        case .json: self = .items(try await client.call(Routes.enqueue, body: request))
        }
    }

    var isEmpty: Bool {
        switch self {
        case .ids(let ids): ids.isEmpty
        case .items(let items): items.isEmpty
        }
    }

    static func + (left: Added, right: Added) -> Added {
        switch (left, right) {
        case (.ids(let first), .ids(let second)): .ids(first + second)
        case (.items(let first), .items(let second)): .items(first + second)
        case (.ids, .items(let items)), (.items(let items), .ids): .items(items)
        }
    }
}

private func show(_ added: Added) throws {
    switch added {
    case .ids(let ids): try Output.print(ids.map { String($0.id) }.joined(separator: "\n"))
    case .items(let items): try Output.items(items)
    }
}

private func table(_ items: [PlayerItem], current: Int?) -> String {
    guard !items.isEmpty else { return "The queue is empty; add something with `backgrounder queue add FILE`." }
    var table = Table([
        ("", .left), ("POS", .right), ("ID", .right), ("LENGTH", .right), ("ITEM", .left), ("FORMAT", .left),
    ])
    for item in items {
        let format = [item.codec, item.sampleRate.map { "\($0) Hz" }].compactMap(\.self).joined(separator: " ")
        table.add([
            item.error != nil ? "✗" : item.id == current ? "▶" : "", String(item.position), String(item.id),
            item.duration.map(Durations.clock) ?? "", item.name,
            item.error ?? format,
        ])
    }
    return table.render()
}
