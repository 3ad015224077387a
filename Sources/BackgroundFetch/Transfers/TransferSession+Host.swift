import BackgrounderAPI

/// What this machine has to do with it: its power, its ways out.
extension TransferSession {
    /// Watches what some transfer waits for, and nothing while none does.
    func watchHost() {
        let isNeeded =
            isRunning
            && entries.values.contains { entry in
                entry.waitsForWay || entry.record.transfer.discretionary && entry.record.transfer.state != .paused
            }
        if !isNeeded {
            watch = nil
        } else if watch == nil {
            watch = HostWatch {
                Task { [weak self] in await self?.routesChanged() }
            } onPower: {
                Task { [weak self] in await self?.hostChanged() }
            }
        }
    }

    func routesChanged() async {
        for (id, entry) in entries where entry.runner == nil && entry.waitsForWay { queue(id) }
        await hostChanged()
    }

    /// Looks at those that are not urgent again: they may run now, or may no longer.
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

    nonisolated func obstacle() async -> TransferWait? {
        await ConditionsReader(conditions: conditions, executor: checker).obstacle()
    }
}

/// Reads the conditions on a thread that may wait.
private actor ConditionsReader {
    private let conditions: any HostConditions
    private let executor: DiskExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(conditions: any HostConditions, executor: DiskExecutor) {
        (self.conditions, self.executor) = (conditions, executor)
    }

    func obstacle() -> TransferWait? { conditions.obstacle() }
}
