import BackgrounderAPI
import SystemSupport

/// A change of the machine.
enum HostChange {
    /// The default routes.
    case routes
    /// The power supplies.
    case power
}

// Reactions to changes of the machine's power and network.
extension TransferSession {
    /// Watches the host while a transfer depends on it, and otherwise stops watching.
    func watchHost() {
        let isNeeded =
            isRunning
            && entries.values.contains { entry in
                entry.waitsForWay || entry.record.transfer.discretionary && entry.record.transfer.state != .paused
            }
        if !isNeeded {
            watch = nil
        } else if watch == nil {
            let changes = hostChanges.continuation
            watch = HostWatch {
                changes.yield(.routes)
            } onPower: {
                changes.yield(.power)
            }
        }
    }

    /// Queues the transfers that wait for the network or for their next attempt.
    func routesChanged() async {
        for (id, entry) in entries where entry.runner == nil && entry.waitsForWay { queue(id) }
        await hostChanged()
    }

    /// Checks the conditions for discretionary transfers again: stops running ones, or queues waiting ones.
    func hostChanged() async {
        let obstacle = await obstacle()
        guard isRunning else { return }
        for (id, entry) in entries where entry.record.transfer.discretionary {
            if let obstacle, obstacle != .limiter, let runner = entry.runner, entry.intent == nil {
                entries[id]?.intent = .hold
                runner.cancel()
            } else if obstacle == nil, entry.runner == nil, entry.record.transfer.state == .waiting,
                [.power, .network, .limiter].contains(entry.record.transfer.waitingFor)
            {
                queue(id)
            }
        }
        schedule()
    }

    /// Returns the condition that discretionary transfers must wait for; `nil` if they may run.
    nonisolated func obstacle() async -> TransferWait? {
        await ConditionsReader(conditions: conditions, executor: checker).obstacle()
    }
}

/// Reads the conditions on an executor that may block.
private actor ConditionsReader {
    private let conditions: any HostConditions
    private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(conditions: any HostConditions, executor: QueueExecutor) {
        (self.conditions, self.executor) = (conditions, executor)
    }

    func obstacle() -> TransferWait? { conditions.obstacle() }
}
