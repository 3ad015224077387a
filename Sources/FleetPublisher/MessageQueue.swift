import MQTTClient
import Synchronization

/// The replies to commands and the events at places that a broker has not acknowledged yet. It outlives the sessions. Any thread.
final class MessageQueue: Sendable {
    private struct Letter {
        /// Below ``PublisherMessages/noTag``, so that no point has it; each is below those before.
        var tag: Int64
        var topic: String
        var payload: [UInt8]
        /// The id of the command to which this is the last reply.
        var command: String?
    }

    private struct State {
        var letters: [Letter] = []
        var lastTag = PublisherMessages.noTag
    }

    /// Tuned: twice the commands that may wait. Last replies are stored and come again after a restart.
    private static let most = 2000

    private let state = Mutex(State())

    /// Adds a message.
    ///
    /// - Parameter command: the id of the command to which this is the last reply.
    func post(_ payload: [UInt8], topic: String, command: String?) {
        state.withLock { state in
            state.lastTag -= 1
            state.letters.append(Letter(tag: state.lastTag, topic: topic, payload: payload, command: command))
            if state.letters.count > Self.most { state.letters.removeFirst() }
        }
    }

    /// Returns the message after the one with this tag; ``PublisherMessages/noTag`` begins with the first one.
    func next(after tag: Int64) -> MQTTPublication? {
        state.withLock { state in
            state.letters.first { $0.tag < tag }
                .map { MQTTPublication(topic: $0.topic, payload: $0.payload, tag: $0.tag) }
        }
    }

    /// Removes an acknowledged message. Returns the id of the command to which it was the last reply.
    func acknowledged(_ tag: Int64) -> String? {
        state.withLock { state in
            guard let index = state.letters.firstIndex(where: { $0.tag == tag }) else { return nil }
            return state.letters.remove(at: index).command
        }
    }
}
