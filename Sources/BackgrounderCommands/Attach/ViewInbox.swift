import BackgrounderAPI
import Synchronization

/// What a view has to know, merged as it comes: a terminal that is frozen for hours costs no more than one that is not, and
/// shows the newest state when it thaws. Any thread may post; one task waits.
final class ViewInbox: Sendable {
    enum Input: Sendable {
        case event(Event)
        /// The terminal has another size.
        case resized
        /// What is shown counts, and a second is over.
        case elapsed
        /// Ctrl-Z.
        case suspended
        /// The shell let the process go on.
        case resumed
        /// q, Ctrl-C, or the end of the terminal.
        case quit
        /// The service ended, or the connection to it.
        case ended(CommandFailure)
    }

    /// What came since the last look, and the state with all of it.
    struct Content: Sendable {
        fileprivate(set) var state = LiveState()
        fileprivate(set) var isSuspended = false
        fileprivate(set) var isResumed = false
        fileprivate(set) var isQuit = false
        fileprivate(set) var failure: CommandFailure?
    }

    private let content = Mutex(Content())
    /// An element says only that there is something; more than one would say no more.
    let bell: AsyncStream<Void>
    private let ring: AsyncStream<Void>.Continuation

    init() {
        (bell, ring) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

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

    /// Called after each ring of the ``bell``.
    func take() -> Content {
        content.withLock { content in
            defer { (content.isSuspended, content.isResumed) = (false, false) }
            return content
        }
    }
}
