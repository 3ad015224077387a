import AudioPlayback
import BackgroundFetch
import BackgroundTransfers
import BackgrounderAPI
import FleetCommands
import FleetPublisher
import FoundationEssentials
import Glibc
import MediaFiles
import Speech
import SystemSupport
import WebSupport

/// Executes the commands of a fleet with the other parts of the service.
struct FleetWorkers: CommandWorkers {
    let context: PartContext
    let player: QueuePlayer
    let speech: SpeechCache
    let fetch: FetchScheduler
    let transfers: TransfersPart
    let publisher: FleetPublisher

    /// Reads items to check their digests.
    private static let reader = QueueExecutor("backgrounder.fleet.items")

    /// Why a command is not executed.
    private struct Refusal: Error {
        var end: CommandEnd

        init(_ reason: String) { end = CommandEnd(.refused, reason) }

        init(late reason: String) { end = CommandEnd(.expired, reason) }

        init(_ error: any Error) {
            switch error {
            case let refusal as Refusal: self = refusal
            case SpeechError.late: self.init(late: "\(error)")
            default: self.init("\(error)")
            }
        }
    }

    func prepare(_ command: FleetCommand) async -> CommandEnd? {
        do {
            switch command.order {
            case .announce(let item, let digest, _): _ = try await file(of: item, digest, before: command.expires)
            case .say(let text, _): _ = try await speech.file(for: text, before: Self.deadline(command))
            default: break
            }
            return nil
        } catch {
            return Refusal(error).end
        }
    }

    func begin(_ command: FleetCommand, of publisher: String) async -> CommandStart {
        do {
            switch command.order {
            case .announce(let item, let digest, let sound):
                let scope = MediaScope.folder(await context.preferences.configuration.value(Keys.fleetItems))
                guard digest == nil, let path = try await existing(item) else {
                    return finishing {
                        let path = try await file(of: item, digest, before: command.expires)
                        return try await Self.end(of: announce(path, scope, sound, command))
                    }
                }
                // An item that needs no check keeps its place in the order of the commands.
                let end = try await announce(path, scope, sound, command)
                return finishing { try await Self.end(of: end) }
            case .say(let text, let sound):
                guard let path = try? await speech.file(for: text, before: .now) else {
                    return finishing {
                        let path = try await speech.file(for: text, before: Self.deadline(command))
                        return try await Self.end(of: announce(path, .everywhere, sound, command))
                    }
                }
                let end = try await announce(path, .everywhere, sound, command)
                return finishing { try await Self.end(of: end) }
            case .play: _ = try await player.play()
            case .pause: _ = await player.pause()
            case .next: _ = try await player.next()
            case .volume(let level): _ = try await player.setOptions(volume: Int((level * 100).rounded()))
            case .fetch(let source): return finishing { try await run(source) }
            case .report:
                guard await self.publisher.sendPosition(of: publisher) else {
                    throw Refusal("the machine has no position yet")
                }
            case .status: await self.publisher.sendReport(of: publisher)
            }
            return .ended(CommandEnd(.done))
        } catch {
            return .ended(Refusal(error).end)
        }
    }

    private func finishing(_ work: @escaping @Sendable () async throws -> CommandEnd) -> CommandStart {
        .continues {
            do { return try await work() } catch { return Refusal(error).end }
        }
    }

    // Tuned: an announcement of yesterday is not heard, whatever the clock says.
    private static let longestWait = 86_400.0

    private static func deadline(_ command: FleetCommand) -> MonotonicTime {
        // Tuned: a clock that is years off must not overflow.
        .now + .seconds(min(max(0, command.expires.timeIntervalSinceNow), longestWait))
    }

    // MARK: Sound

    private func announce(
        _ path: String,
        _ scope: MediaScope,
        _ sound: FleetCommand.Sound,
        _ command: FleetCommand
    ) async throws -> AsyncStream<AnnouncementEnd> {
        try await player.announce(
            path,
            within: scope,
            duck: sound.duck,
            priority: sound.priority,
            before: Self.deadline(command)
        )
    }

    private static func end(of announcement: AsyncStream<AnnouncementEnd>) async throws -> CommandEnd {
        for await end in announcement {
            switch end {
            case .played: return CommandEnd(.done)
            case .failed(let reason): throw Refusal(reason)
            case .late: throw Refusal(late: "other announcements played until it was too late")
            case .dropped(let reason): throw Refusal("the announcement was dropped: \(reason)")
            }
        }
        throw Refusal("the service is stopping")
    }

    // MARK: Items

    /// Returns the path of an item, if its file exists.
    private func existing(_ item: String) async throws -> String? {
        guard let folder = await context.preferences.configuration.value(Keys.fleetItems) else {
            throw Refusal("fleet.items is not set in the machine's configuration")
        }
        let path = folder + "/" + item
        return access(path, F_OK) == 0 ? path : nil
    }

    /// Returns the path of an item with this digest, and downloads it if necessary.
    private func file(of item: String, _ digest: String?, before end: Date) async throws -> String {
        let present = try await existing(item)
        if let present {
            guard let digest else { return present }
            if await Self.reader.run({ Self.digest(of: present) }) == digest { return present }
        }
        let configuration = await context.preferences.configuration
        guard let base = configuration.value(Keys.fleetItemURL), let folder = configuration.value(Keys.fleetItems)
        else {
            let problem = present == nil ? "no item \(item)" : "the item \(item) has another digest"
            throw Refusal("\(problem), and fleet.itemURL is not set in the machine's configuration")
        }
        guard let digest else {
            throw Refusal("no item \(item); add its sha256 to the command, and the machine downloads it")
        }
        guard end > Date() else { throw Refusal(late: "it expired before the item was downloaded") }
        let path = folder + "/" + item
        let url = base + item.split(separator: "/").map { String($0).percentEncoded }.joined(separator: "/")
        guard let transfer = try await transfers.download(url, to: path, sha256: digest) else {
            throw Refusal("the service is stopping")
        }
        guard transfer.state == .done else {
            throw Refusal("cannot download the item \(item): \(transfer.error ?? transfer.state.rawValue)")
        }
        return path
    }

    /// Returns the SHA-256 of a file in hexadecimal; `nil` if it cannot be read. Blocks on disk I/O.
    private static func digest(of path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        let hash = SHA256()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
            buffer.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
        return ferror(file) == 0 ? SHA256.hexadecimal(hash.finish()) : nil
    }

    private func run(_ source: String) async throws -> CommandEnd {
        let run = try await fetch.run(source, .push)
        guard run.result != .failed else { throw Refusal("the fetch failed\(run.reason.map { ": \($0)" } ?? "")") }
        return CommandEnd(.done, run.result?.rawValue)
    }
}
