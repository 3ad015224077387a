import BackgrounderAPI
import SystemSupport

extension ServiceStatus {
    /// The doctor's checks of fetches, transfers and pushes; empty if there are none.
    func backgroundChecks(pushes: [PushStatus]) -> [DoctorReport.Check] {
        var checks: [DoctorReport.Check] = []
        if let fetch, !fetch.isEmpty { checks += [modeCheck(fetch), failureCheck(fetch)] }
        if let transfers, !transfers.isEmpty { checks.append(diskCheck(transfers)) }
        if !pushes.isEmpty { checks.append(pushCheck(pushes)) }
        return checks
    }

    private func pushCheck(_ pushes: [PushStatus]) -> DoctorReport.Check {
        let isDeclared = modes.contains(.remoteNotification)
        let refused = pushes.filter { $0.state == .refused }
        let words = pushes.map { push in
            "\(push.name) \(push.state.rawValue)" + (push.lastError.map { " (\($0))" } ?? "")
        }
        return .init(
            "push",
            isDeclared && refused.isEmpty,
            words.joined(separator: ", ") + (isDeclared ? "" : "; remote-notification is not in modes"),
            hint: isDeclared
                ? "check that the broker knows this machine and that the credentials are right; see `backgrounder push list`"
                : "add remote-notification to modes in the configuration to receive pushes while no client is attached"
        )
    }

    private func modeCheck(_ sources: [FetchSource]) -> DoctorReport.Check {
        let automatic = sources.filter { $0.interval != .never }.count
        let isDeclared = modes.contains(.fetch)
        return .init(
            "fetch",
            isDeclared || automatic == 0,
            "\(sources.count == 1 ? "1 source" : "\(sources.count) sources"), \(automatic) fetched automatically; "
                + "fetch is \(isDeclared ? "in modes" : "not in modes")",
            hint: "add fetch to modes in the configuration to fetch while no client is attached"
        )
    }

    private func failureCheck(_ sources: [FetchSource]) -> DoctorReport.Check {
        // Tuned: a single failure is usually the network; three in a row need attention
        let failing = sources.filter { $0.state == .active && $0.failures >= 3 }
        return .init(
            "fetch sources",
            failing.isEmpty,
            failing.isEmpty
                ? "no failures"
                : failing.map { "\($0.name) failed \($0.failures) times in a row" }.joined(separator: ", "),
            hint: "`backgrounder fetch log \(failing.first?.name.withoutControlCharacters ?? "NAME")` shows why"
        )
    }

    private func diskCheck(_ transfers: [Transfer]) -> DoctorReport.Check {
        let stuck = transfers.filter { $0.state == .waiting && $0.waitingFor == .disk }
        return .init(
            "transfers",
            stuck.isEmpty,
            stuck.isEmpty
                ? "\(transfers.count) open"
                : stuck.map { "\($0.id) is waiting for disk space" }.joined(separator: ", "),
            hint:
                "free disk space for \(stuck.first?.destination.withoutControlCharacters ?? "them"); transfers then resume by themselves"
        )
    }
}

extension StorageHealth {
    /// The doctor's check of the storage.
    var check: DoctorReport.Check {
        .init(
            "storage",
            state == .ok,
            state == .ok ? "everything is stored" : lines.filter { !$0.hasPrefix("→") }.joined(separator: "; "),
            hint: problems.last?.hint
        )
    }
}
