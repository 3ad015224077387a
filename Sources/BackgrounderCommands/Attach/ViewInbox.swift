import BackgrounderAPI
import Synchronization

/// An inbox that merges the inputs of a view, so that a terminal that is frozen for hours takes no more memory and
/// shows the newest state afterwards. Any thread may post; one task waits.
final class ViewInbox: Sendable {
    enum Input: Sendable {
        case event(Event)
        /// The size of the terminal changed.
        case resized
        /// A second has passed while a budget counts down on the screen.
        case elapsed
        /// Ctrl-Z.
        case suspended
        /// The shell continued the process.
        case resumed
        /// q, Ctrl-C, or a closed terminal.
        case quit
        case key(Key)
        /// The service refused the request of a key.
        case refused(CommandFailure)
        /// The items around the one with this id; `nil` if there is no such item.
        case page([PlayerItem]?, around: Int)
        case location(LocationStatus)
        case log(Result<[LogRecord], CommandFailure>)
        /// The connection to the service ended.
        case ended(CommandFailure)
    }

    /// The inputs since the last call of ``take()``, and the state with all events applied.
    struct Content: Sendable {
        fileprivate(set) var state = LiveState()
        fileprivate(set) var isSuspended = false
        fileprivate(set) var isResumed = false
        fileprivate(set) var isQuit = false
        fileprivate(set) var failure: CommandFailure?
        /// The newest refusal.
        fileprivate(set) var refusal: CommandFailure?
        /// In order; at most ``mostKeys``.
        fileprivate(set) var keys: [Key] = []
        fileprivate(set) var page: (items: [PlayerItem]?, id: Int)?
        /// Whether points arrived.
        fileprivate(set) var hasMoved = false
    }

    /// Tuned: more than a person types ahead. Further keys are lost, as in the buffer of a terminal.
    private static let mostKeys = 64

    private let content = Mutex(Content())
    /// Yields when there is new content. It buffers one element, because one is enough to wake the task.
    let bell: AsyncStream<Void>
    private let ring: AsyncStream<Void>.Continuation

    init() {
        (bell, ring) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Merges `input` into the content and rings the ``bell``.
    func post(_ input: Input) {
        content.withLock { content in
            switch input {
            case .event(let event):
                if case .location = event { content.hasMoved = true }
                content.state.apply(event)
            case .key(let key): if content.keys.count < Self.mostKeys { content.keys.append(key) }
            case .refused(let failure): content.refusal = failure
            case .page(let items, let id): content.page = (items, id)
            case .location(let location): content.state.apply(location)
            case .log(let log): content.state.append(log)
            case .resized, .elapsed: break
            case .suspended: content.isSuspended = true
            case .resumed: content.isResumed = true
            case .quit: content.isQuit = true
            case .ended(let failure): content.failure = content.failure ?? failure
            }
        }
        ring.yield()
    }

    /// Returns the content. Call it after each ring of the ``bell``.
    func take() -> Content {
        content.withLock { content in
            defer {
                (content.isSuspended, content.isResumed, content.hasMoved) = (false, false, false)
                (content.refusal, content.page, content.keys) = (nil, nil, [])
            }
            return content
        }
    }
}
