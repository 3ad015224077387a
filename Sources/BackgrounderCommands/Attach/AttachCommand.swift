import ArgumentParser
import BackgrounderAPI

struct AttachCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach",
        abstract: "Watch the service live; Ctrl-C or q detaches, and the service goes on.",
        discussion:
            "Keys: space plays or pauses, n next, p previous, q detaches. Without a terminal it prints plain lines."
    )

    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await Client.use(service.paths) { client in
            if Output.isTerminal {
                try await LiveView(client: client).run()
            } else {
                try await PlainView(client: client).run()
            }
        }
    }
}

/// What reaches a view.
enum ViewInput: Sendable {
    case event(Event)
    case key(Character)
    /// The terminal has another size.
    case resized
    /// Ctrl-C, or the end of the terminal.
    case quit
    /// The service ended, or the connection to it.
    case ended(CommandFailure)
}

extension Client {
    /// Attaches; the events of the service among those of `signals`, in the order in which they come.
    func viewInputs(_ sources: (AsyncStream<ViewInput>.Continuation) -> [AnyObject]) -> AttachedInputs {
        let (stream, continuation) = AsyncStream.makeStream(of: ViewInput.self)
        let kept = sources(continuation)
        let reader = Task {
            do {
                try await events(attach: true, observe: .seconds(1)) { event in
                    continuation.yield(.event(event))
                    return true
                }
                continuation.yield(.ended(CommandFailure("the service ended", exitCode: 3)))
            } catch let failure as CommandFailure {
                continuation.yield(.ended(failure))
            } catch {
                continuation.yield(.ended(CommandFailure("\(error)")))
            }
        }
        return AttachedInputs(stream: stream, reader: reader, sources: kept)
    }
}

/// The inputs of a view, and what makes them.
struct AttachedInputs {
    let stream: AsyncStream<ViewInput>
    fileprivate let reader: Task<Void, Never>
    fileprivate let sources: [AnyObject]

    init(stream: AsyncStream<ViewInput>, reader: Task<Void, Never>, sources: [AnyObject]) {
        (self.stream, self.reader, self.sources) = (stream, reader, sources)
    }

    /// Detaches.
    func end() {
        reader.cancel()
    }
}
