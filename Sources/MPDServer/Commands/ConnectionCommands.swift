import BackgrounderAPI

extension MPDCommand {
    /// The settings of a connection, and queries about the server.
    static let connectionCommands: [MPDCommand] = [
        MPDCommand(ending: "close"),
        MPDCommand("ping", access: .everybody) { _, _ in },
        MPDCommand("password", 1, access: .everybody) { session, arguments in
            try await session.authenticate(arguments[0])
        },
        MPDCommand("commands", access: .everybody) { session, _ in
            for name in all.keys.sorted() where all[name]?.isAllowed(for: session) == true {
                session.put("command", name)
            }
        },
        MPDCommand("notcommands", access: .everybody) { session, _ in
            for name in all.keys.sorted() where all[name]?.isAllowed(for: session) == false {
                session.put("command", name)
            }
        },
        MPDCommand("tagtypes", 0...Int.max, access: .everybody) { session, arguments in
            try session.changeTags(arguments)
        },
        MPDCommand("binarylimit", 1, access: .everybody) { session, arguments in
            let limit = try arguments.integer(0, in: 0...Int(Int32.max))
            guard limit >= 64 else { throw MPDError(.argument, "Value too small") }
            // Tuned: bounds the memory of one answer.
            session.binaryLimit = min(limit, 1 << 20)
        },
        MPDCommand("idle", 0...Int.max) { session, arguments in
            var subsystems: MPDSubsystem = arguments.count == 0 ? .all : []
            for name in arguments.values {
                guard let subsystem = MPDSubsystem(name: name) else {
                    throw MPDError(.argument, "Unrecognized idle event: \(name)")
                }
                subsystems.insert(subsystem)
            }
            session.idle(for: subsystems)
        },
        MPDCommand("urlhandlers") { session, _ in
            for scheme in StreamAddress.schemes { session.put("handler", "\(scheme)://") }
        },
        MPDCommand("decoders") { session, _ in
            for (plugin, suffixes, types) in decoders {
                session.put("plugin", plugin)
                for suffix in suffixes { session.put("suffix", suffix) }
                for type in types { session.put("mime_type", type) }
            }
        },
        MPDCommand("listpartitions") { session, _ in session.put("partition", "default") },
        MPDCommand("partition", 1) { _, arguments in
            guard arguments[0] == "default" else { throw MPDError(.noExist, "partition does not exist") }
        },
    ]

    private static let decoders: [(plugin: String, suffixes: [String], types: [String])] = [
        ("mpg123", ["mp3", "mp2"], ["audio/mpeg"]),
        (
            "sndfile", ["wav", "aiff", "aif", "aifc", "au", "snd", "w64", "rf64", "caf", "flac", "ogg", "oga", "opus"],
            ["audio/wav", "audio/x-wav", "audio/aiff", "audio/x-aiff", "audio/flac", "audio/ogg", "audio/opus"]
        ),
    ]
}

extension MPDSession {
    /// Lists or changes the tags that the client sees: `tagtypes`, `tagtypes clear|all`,
    /// `tagtypes enable|disable NAME...`.
    fileprivate func changeTags(_ arguments: MPDArguments) throws(MPDError) {
        guard let verb = arguments.optional(0) else {
            for tag in SongTagName.allCases where tags.contains(tag) { put("tagtype", tag.rawValue) }
            return
        }
        switch verb {
        case "clear", "all":
            guard arguments.count == 1 else { throw MPDError(.argument, "Too many arguments") }
            tags = verb == "all" ? Set(SongTagName.allCases) : []
        case "enable", "disable":
            guard arguments.count > 1 else { throw MPDError(.argument, "Not enough arguments") }
            var named: Set<SongTagName> = []
            for name in arguments.dropFirst(1) {
                guard let tag = MPDTag(name) else { throw MPDError(.argument, "Unknown tag type") }
                if case .known(let tag) = tag { named.insert(tag) }
            }
            if verb == "enable" { tags.formUnion(named) } else { tags.subtract(named) }
        default: throw MPDError(.argument, "Unknown sub command")
        }
    }
}
