import BackgrounderAPI
import NIOCore

/// What all connections of a server share.
struct MPDContext: Sendable {
    let player: any MPDPlayer
    /// None where no music directory is configured.
    let database: (any MPDDatabase)?
    let hub: MPDHub
    let gate: PasswordGate
    let limits: MPDLimits
    let started: ContinuousClock.Instant
    let pictures = MPDPictures()
}

/// One client: its line of commands, what it may do, which tags it wants to see, and what it waits for.
///
/// Commands are answered one after the other; only `notify` comes in between, and speaks only while the client idles.
actor MPDSession {
    /// What becomes of the connection.
    enum Outcome { case goesOn, ends }

    private enum CommandList {
        case none
        case open(lines: [String], bytes: Int, isVerbose: Bool)
    }

    let context: MPDContext
    /// Where it connects from; who may use the Unix socket its file decides.
    let peer: MPDPeer
    private(set) var permissions: MPDPermissions
    private var wrongPasswords = 0
    var tags = Set(SongTagName.allCases)
    /// Bytes of a picture in one answer.
    var binaryLimit = 8192
    /// What `idle` asked for, while it waits.
    private var waitsFor: MPDSubsystem?
    private var pending: MPDSubsystem = []
    private var list = CommandList.none
    private var output = ByteBuffer()
    /// Begins with each answer: only who idles may say nothing for long.
    private let silence: SilenceWatch?
    private let write: @Sendable (ByteBuffer) async throws -> Void

    /// - Parameter write: takes bytes for the client, in the order of its calls; suspends while it does not read.
    init(
        context: MPDContext,
        peer: MPDPeer,
        silence: SilenceWatch?,
        write: @escaping @Sendable (ByteBuffer) async throws -> Void
    ) {
        self.context = context
        self.peer = peer
        self.silence = silence
        self.write = write
        permissions = peer == .local ? .all : context.gate.defaultPermissions
    }

    func greet() async throws {
        append("OK MPD \(MPDServer.protocolVersion)\n")
        try await flush()
        silence?.begin()
    }

    // MARK: Lines

    /// Takes in a line of the client and answers it.
    func receive(_ line: MPDLine) async throws -> Outcome {
        silence?.pause()
        let outcome: Outcome
        switch line {
        case .text(let text): outcome = try await process(text)
        case .tooLong:
            append(MPDError(.unknown, "Input buffer is full", namesCommand: false).line(command: "", index: 0))
            outcome = .ends
        }
        try await flush()
        if !isIdling { silence?.begin() }
        return outcome
    }

    private func process(_ line: String) async throws -> Outcome {
        // As MPD: so a browser that was lured into sending a request to this port is not listened to. None can reach a
        // Unix socket, where a slip of a person gets an answer.
        if peer != .local, !(line.utf8.first.map { (0x61...0x7A).contains($0) } ?? false) { return .ends }
        if line == "noidle" {
            if waitsFor != nil {
                waitsFor = nil
                append("OK\n")
            }
            return .goesOn
        }
        // Nothing but noidle may come; MPD ends the connection too.
        if waitsFor != nil { return .ends }
        switch list {
        case .open(var lines, let bytes, let isVerbose):
            list = .none
            if line == "command_list_end" { return try await run(lines, isVerbose: isVerbose) }
            let size = max(line.utf8.count + 1, MPDLimits.smallestLine)
            guard bytes + size <= context.limits.commandList else {
                append(MPDError(.unknown, "command list is too large", namesCommand: false).line(command: "", index: 0))
                return .ends
            }
            lines.append(line)
            list = .open(lines: lines, bytes: bytes + size, isVerbose: isVerbose)
            return .goesOn
        case .none:
            switch line {
            case "command_list_begin": list = .open(lines: [], bytes: 0, isVerbose: false)
            case "command_list_ok_begin": list = .open(lines: [], bytes: 0, isVerbose: true)
            default: return try await run([line], isVerbose: false)
            }
            return .goesOn
        }
    }

    /// Up to the first command that is refused.
    private func run(_ lines: [String], isVerbose: Bool) async throws -> Outcome {
        for (index, line) in lines.enumerated() {
            var name = ""
            do {
                let parsed = try MPDCommandLine(line)
                name = parsed.name
                let command = try MPDCommand.find(parsed.name, for: self)
                try command.check(parsed.arguments.count)
                if try await command.run(self, MPDArguments(parsed.arguments)) == .ends { return .ends }
                // It answers when there is something to tell, and ends a list.
                if waitsFor != nil {
                    answerIdle()
                    return .goesOn
                }
                if isVerbose { append("list_OK\n") }
                try await drain()
            } catch let error as MPDError {
                append(error.line(command: name, index: index))
                return wrongPasswords < context.limits.wrongPasswords ? .goesOn : .ends
            } catch let error as MPDPlayerError {
                append(MPDError(error).line(command: name, index: index))
                return .goesOn
            } catch let error as MPDDatabaseError {
                append(MPDError(error).line(command: name, index: index))
                return .goesOn
            }
        }
        append("OK\n")
        return .goesOn
    }

    /// Gains what `password` allows in the place of what the client may do now. Throws for a wrong one, after a delay.
    func authenticate(_ password: String) async throws(MPDError) {
        switch await context.gate.judge(password, from: peer) {
        case .granted(let granted):
            permissions = granted
            return
        case .wrong: wrongPasswords += 1
        case .unjudged: wrongPasswords = context.limits.wrongPasswords
        }
        throw MPDError(.password, "incorrect password")
    }

    // MARK: Idle

    /// It says nothing until there is something to tell.
    var isIdling: Bool { waitsFor != nil }

    /// From now on the client waits for one of these.
    func idle(for subsystems: MPDSubsystem) {
        waitsFor = subsystems
    }

    /// These changed; the client is told now when it waits for them, else at its next `idle`.
    ///
    /// Not waited for: a client that reads nothing keeps nobody else waiting.
    func notify(_ subsystems: MPDSubsystem) {
        pending.formUnion(subsystems)
        guard isIdling else { return }
        answerIdle()
        guard !isIdling else { return }
        silence?.begin()
        // The connection's own reading tells of a client that is gone.
        Task { try? await flush() }
    }

    private func answerIdle() {
        guard let waitsFor, !pending.isDisjoint(with: waitsFor) else { return }
        for name in pending.intersection(waitsFor).names { append("changed: \(name)\n") }
        append("OK\n")
        pending = []
        self.waitsFor = nil
    }

    // MARK: Answers

    func put(_ key: String, _ value: String) {
        append(key)
        append(": ")
        append(value.withoutControlCharacters)
        append("\n")
    }

    func put(_ key: String, _ value: Int) { put(key, String(value)) }

    func put(_ key: String, _ value: Bool) { put(key, value ? "1" : "0") }

    func append(_ text: String) {
        output.writeString(text)
    }

    func append(_ bytes: ArraySlice<UInt8>) {
        output.writeBytes(bytes)
    }

    /// Sends what has come together, so that a long answer takes no more memory than a short one.
    func drain() async throws {
        if output.readableBytes >= 1 << 16 { try await flush() }
    }

    private func flush() async throws {
        guard output.readableBytes > 0 else { return }
        let bytes = output
        output = ByteBuffer()
        try await write(bytes)
    }
}

extension MPDError {
    init(_ error: MPDPlayerError) {
        switch error {
        case .notPlaying: self = .notPlaying
        case .noSuchItem: self = .noSuchSong
        case .noSuchFile: self = .noSuchDirectory
        case .badPosition: self = .badSongIndex
        case .queueFull: self.init(.playlistMax, "Playlist is too large")
        case .failed(let reason): self.init(.system, reason)
        }
    }

    init(_ error: MPDDatabaseError) {
        switch error {
        case .noSuchEntry: self = .noSuchDirectory
        case .noPicture: self.init(.noExist, "No file exists")
        case .noSuchPlaylist: self.init(.noExist, "No such playlist")
        case .playlistExists: self.init(.exists, "Playlist already exists")
        case .invalidName: self.init(.argument, "Bad playlist name")
        case .failed(let reason): self.init(.system, reason)
        }
    }
}
