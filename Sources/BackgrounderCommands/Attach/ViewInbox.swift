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
    }

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
            case .event(let event): content.state.apply(event)
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
            defer { (content.isSuspended, content.isResumed) = (false, false) }
            return content
        }
    }
}
