extension MPDCommand {
    /// Messages between clients, which the player does not read.
    static let messageCommands: [MPDCommand] = [
        MPDCommand("subscribe", 1) { session, arguments in
            try await session.context.hub.subscribe(session, to: arguments[0])
        },
        MPDCommand("unsubscribe", 1) { session, arguments in
            try await session.context.hub.unsubscribe(session, from: arguments[0])
        },
        MPDCommand("channels") { session, _ in
            for channel in await session.context.hub.channels { session.put("channel", channel) }
        },
        MPDCommand("sendmessage", 2) { session, arguments in
            try await session.context.hub.send(arguments[1], to: arguments[0])
        },
        MPDCommand("readmessages") { session, _ in
            for message in await session.context.hub.takeMessages(of: session) {
                session.put("channel", message.channel)
                session.put("message", message.text)
            }
        },
    ]
}
