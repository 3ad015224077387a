import BackgrounderAPI
import NIOCore
import SystemSupport

/// The objects that all connections of a server share.
struct MPDContext: Sendable {
    /// All commands, by name.
    let commands: [String: MPDCommand]
    let player: any MPDPlayer
    /// `nil` if no music directory is configured.
    let database: (any MPDDatabase)?
    let hub: MPDHub
    let gate: PasswordGate
    let limits: MPDLimits
    let started: ContinuousClock.Instant
    let pictures = MPDPictures()
}

/// The session of one client: its commands, permissions, visible tags and `idle` state.
///
/// Commands are answered one after the other. Only `notify` can run in between, and it answers only while the client is
/// in `idle`.
actor MPDSession {
    /// Whether the connection continues after a line.
    enum Outcome { case continues, ends }

    private enum CommandList {
        case none
        case open(lines: [String], bytes: Int, isVerbose: Bool)
    }

    /// The version of the protocol in the greeting; clients check it for the features they need.
    static let protocolVersion = "0.23.5"

    let context: MPDContext
    /// The origin of the client. The mode of the Unix socket's file decides which local users may connect.
    let peer: MPDPeer
    private(set) var permissions: MPDPermissions
    private var wrongPasswords = 0
    var tags = Set(SongTagName.allCases)
    /// The most bytes of a picture in one answer.
    var binaryLimit = 8192
    /// The subsystems that the client waits for in `idle`; `nil` while it is not in `idle`.
    private var waitsFor: MPDSubsystem?
    private var pending: MPDSubsystem = []
    private var list = CommandList.none
    private var output = ByteBuffer()
    /// Restarts with each answer, unless the client is in `idle`.
    private let silence: SilenceWatch?
    private let write: @Sendable (ByteBuffer) async throws -> Void

    /// Creates the session of a client that has just connected.
    ///
    /// - Parameter write: sends bytes to the client, in the order of the calls; suspends while the client does not
    ///   read.
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
        append("OK MPD \(Self.protocolVersion)\n")
        try await flush()
        silence?.begin()
    }

    // MARK: Lines

    /// Processes a line from the client and sends the answer.
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
        // Like MPD, disconnect a client whose line does not begin with a lower-case letter: a browser that was lured
        // into sending a request to this port gets no answer. Browsers cannot reach the Unix socket, where a user's
        // typing error gets one.
        if peer != .local, !(line.utf8.first.map { (0x61...0x7A).contains($0) } ?? false) { return .ends }
        if line == "noidle" {
            if waitsFor != nil {
                waitsFor = nil
                append("OK\n")
            }
            return .continues
        }
        // Only noidle is allowed during idle; MPD ends the connection too.
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
            return .continues
        case .none:
            switch line {
            case "command_list_begin": list = .open(lines: [], bytes: 0, isVerbose: false)
            case "command_list_ok_begin": list = .open(lines: [], bytes: 0, isVerbose: true)
            default: return try await run([line], isVerbose: false)
            }
            return .continues
        }
    }

    /// Runs commands up to the first one that fails.
    private func run(_ lines: [String], isVerbose: Bool) async throws -> Outcome {
        for (index, line) in lines.enumerated() {
            var name = ""
            do {
                let parsed = try MPDCommandLine(line)
                name = parsed.name
                let command = try findCommand(parsed.name)
                try command.check(parsed.arguments.count)
                if try await command.run(self, MPDArguments(parsed.arguments)) == .ends { return .ends }
                // idle is answered once there is a change, and it ends a command list.
                if waitsFor != nil {
                    answerIdle()
                    return .continues
                }
                if isVerbose { append("list_OK\n") }
                try await drain()
            } catch let error as MPDError {
                append(error.line(command: name, index: index))
                return wrongPasswords < context.limits.wrongPasswords ? .continues : .ends
            } catch let error as MPDPlayerError {
                append(MPDError(error).line(command: name, index: index))
                return .continues
            } catch let error as MPDDatabaseError {
                append(MPDError(error).line(command: name, index: index))
                return .continues
            }
        }
        append("OK\n")
        return .continues
    }

    /// Returns the command with this name. Throws if there is none or the client lacks the permission.
    private func findCommand(_ name: String) throws(MPDError) -> MPDCommand {
        guard let command = context.commands[name] else {
            throw MPDError(.unknown, "unknown command \"\(name)\"", namesCommand: false)
        }
        if case .everybody = command.access { return command }
        guard permissions.isSuperset(of: command.permission) else {
            throw MPDError(.permission, "you don't have permission for \"\(name)\"")
        }
        return command
    }

    /// Replaces the client's permissions with those of `password`. Throws for a wrong password, after a delay.
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

    /// Whether the client waits in `idle`.
    var isIdling: Bool { waitsFor != nil }

    /// Lets the client wait for a change of one of `subsystems`.
    func idle(for subsystems: MPDSubsystem) {
        waitsFor = subsystems
    }

    /// Notifies the client of changes: now if it waits for them, otherwise at its next `idle`.
    ///
    /// Returns before the client has read the answer, so that a client that does not read delays no other client.
    func notify(_ subsystems: MPDSubsystem) {
        pending.formUnion(subsystems)
        guard isIdling else { return }
        answerIdle()
        guard !isIdling else { return }
        silence?.begin()
        // A write error is ignored: the connection's reads detect a client that has disconnected.
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

    /// Sends the buffered part of an answer if it is large, so that a long answer takes little memory.
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
        case .tooManyStickers: self.init(.system, "too many stickers; delete some")
        case .playlistExists: self.init(.exists, "Playlist already exists")
        case .invalidName: self.init(.argument, "Bad playlist name")
        case .failed(let reason): self.init(.system, reason)
        }
    }
}
