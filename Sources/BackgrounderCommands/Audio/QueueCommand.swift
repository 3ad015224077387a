import ArgumentParser
import BackgrounderAPI
import SystemSupport

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Show and edit the playback queue.",
        discussion: """
            Without a subcommand, runs `queue list`. Other commands refer to items by id.

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
            commandName: "list",
            abstract: "List the items in order.",
            discussion: """
                EXAMPLES
                  backgrounder queue list
                  backgrounder queue list --format json | jq '.[].path'
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let client = reading.client
            let items = try await client.call(Routes.queue)
            switch reading.format {
            case .json: try Output.items(items)
            case .table:
                let current = try await client.call(Routes.audio).currentItem?.id
                try Output.print(table(items, current: current))
            }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add files, folders, playlists and streams at the end, and print their ids.",
            discussion: """
                An http or https address is a live stream or a file on a server, in MP3.

                EXAMPLES
                  backgrounder queue add ~/music
                  backgrounder queue add media/ announcement.wav trip.m3u
                  backgrounder queue add https://radio.example/live.mp3
                """
        )
        @Argument(help: ArgumentHelp("Files, folders, playlists, and http or https addresses.", valueName: "item"))
        var items: [String]
        @OptionGroup var reading: ReadingOptions

        func validate() throws { try requireNames(items) }

        func run() async throws {
            let request = EnqueueRequest(items: items.map(queueLocation))
            try await show(Added(request, by: reading.client, as: reading.format))
        }
    }

    struct Insert: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "insert",
            abstract: "Add items after the current item, and print their ids.",
            discussion: """
                EXAMPLE
                  backgrounder queue insert now.mp3        # right after the current item
                """
        )
        @Argument(help: ArgumentHelp("Files, folders, playlists, and http or https addresses.", valueName: "item"))
        var items: [String]
        @OptionGroup var reading: ReadingOptions

        func validate() throws { try requireNames(items) }

        func run() async throws {
            let request = EnqueueRequest(items: items.map(queueLocation), after: .current)
            try await show(Added(request, by: reading.client, as: reading.format))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove items by id.",
            discussion: """
                If one of the ids does not exist, nothing is removed.

                EXAMPLES
                  backgrounder queue remove 7
                  backgrounder queue remove 7 8 12
                """
        )
        @Argument(help: "Ids of the items.", transform: parseID) var id: [Int]
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let request = RemoveRequest(ids: id)
            _ = try await reading.client.call(Routes.removeItems, body: request)
            try reading.confirm("removed \(counted(Set(id).count, "item"))")
        }
    }

    struct Move: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "move",
            abstract: "Move an item to another position.",
            discussion: """
                EXAMPLE
                  backgrounder queue move 7 0              # makes item 7 the first
                """
        )
        @Argument(help: "Id of the item.", transform: parseID) var id: Int
        @Argument(help: "New position, from 0.", transform: wholeNumber("a position in the queue, from 0"))
        var position: Int
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let request = MoveRequest(position: position)
            let item = try await reading.client.call(Routes.moveItem, body: request, id: id)
            try reading.show(item) { "moved \($0.name) to position \($0.position)".withoutControlCharacters }
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Remove all items.",
            discussion: """
                EXAMPLE
                  backgrounder queue clear
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            _ = try await reading.client.call(Routes.clearQueue)
            try reading.confirm("removed all items")
        }
    }

    struct Shuffle: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "shuffle",
            abstract: "Shuffle the items.",
            discussion: """
                EXAMPLE
                  backgrounder queue shuffle
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let items = try await reading.client.call(Routes.shuffleQueue)
            try reading.show(items) { table($0, current: nil) }
        }
    }

    struct Load: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "load",
            abstract: "Add the items of a playlist at the end, and print their ids.",
            discussion: """
                EXAMPLE
                  backgrounder queue load trip.m3u
                """
        )
        @Argument(
            help: ArgumentHelp("M3U, M3U8 or PLS file. Relative paths start from its folder.", valueName: "file.m3u")
        )
        var file: String
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            var playlist = try Playlist(path: RuntimePaths.absolute(file))
            let format = reading.format
            let client = reading.client
            let added = try await playlist.add { [try await Added($0, by: client, as: format)] }
                .reduce(Added()) { $0 + $1 }
            if !added.isEmpty { try show(added) }
            let faults = playlist.faults
            guard let last = faults.last else { return }
            for fault in faults.dropLast() { Output.note(fault) }
            throw CommandFailure("\(last); \(added.isEmpty ? "nothing was added" : "the others were added")")
        }
    }

    struct Save: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "save",
            abstract: "Save the queue as a playlist.",
            discussion: """
                EXAMPLES
                  backgrounder queue save trip.m3u
                  backgrounder queue save trip.pls --force
                """
        )
        @Argument(help: ArgumentHelp("File to write: PLS if it ends in .pls, otherwise M3U.", valueName: "file.m3u"))
        var file: String
        @Flag(help: "Overwrite the file if it exists.")
        var force = false
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let path = RuntimePaths.absolute(file)
            if !force { try ExportFile.checkNew(path, named: file) }
            let items = try await reading.client.call(Routes.queue)
            try Playlist.write(items, to: path)
            try reading.confirm("wrote \(file): \(counted(items.count, "item"))")
        }
    }
}

/// Rejects an empty name, such as a script's unset variable: as a path it would mean the current folder.
func requireNames(_ items: [String]) throws {
    if items.contains("") { throw ValidationError("the name of an item is empty; name a file, a folder or a playlist") }
}

/// Returns `item` as the service expects it: an absolute path, or the address as it is.
func queueLocation(_ item: String) -> String {
    StreamAddress.isAddress(item) ? item : RuntimePaths.absolute(item)
}

/// The added items, as far as they are printed. A table needs only the ids, which keeps the reply to 100,000 items
/// small.
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
    guard !items.isEmpty else { return "The queue is empty; add items with `backgrounder queue add FILE`." }
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
