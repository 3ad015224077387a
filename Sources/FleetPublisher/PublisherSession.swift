import MQTTClient
import SystemSupport

/// The connection of a publisher to its broker or server.
protocol PublisherSession: Sendable {
    /// Looks for messages to send. Any thread; returns immediately.
    func wake()

    /// Ends the session soon. Any thread; returns immediately.
    ///
    /// - Parameter forgetting: whether the publisher will not return, so that nothing of it stays at the broker.
    func end(forgetting: Bool)

    /// Blocks the calling thread until the session has ended, but no longer than until `time`.
    func waitForEnd(until time: MonotonicTime)
}

extension MQTTSession: PublisherSession {}

/// A report of a session about its connection.
enum SessionReport: Sendable {
    /// - Parameter deafness: why the machine receives no commands.
    case connected(deafness: String?)
    /// - Parameter isRefusal: whether the failure is unlikely to go away without a change of configuration.
    case failed(String, isRefusal: Bool)
}

extension SessionReport {
    init(_ report: MQTTReport) {
        switch report {
        case .connected(let refused):
            self = .connected(
                deafness: refused.map {
                    "no commands arrive: the broker refuses the topic \($0); allow this machine to read it"
                }
            )
        case .failed(let failure): self = .failed(failure.description, isRefusal: failure.isRefusal)
        }
    }
}
