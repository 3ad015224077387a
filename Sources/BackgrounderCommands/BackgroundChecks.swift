import BackgrounderAPI

extension ServiceStatus {
    /// What the doctor says about fetches, transfers and pushes; nothing where there are none.
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
            words.joined(separator: ", ") + (isDeclared ? "" : "; the mode is not declared"),
            hint: isDeclared
                ? "does the broker know this machine, and are the credentials right? `backgrounder push list`"
                : "with remote-notification in modes of the configuration they come while nobody is attached, too"
        )
    }

    private func modeCheck(_ sources: [FetchSource]) -> DoctorReport.Check {
        let automatic = sources.filter { $0.interval != .never }.count
        let isDeclared = modes.contains(.fetch)
        return .init(
            "fetch",
            isDeclared || automatic == 0,
            "\(sources.count == 1 ? "1 source" : "\(sources.count) sources"), \(automatic) fetched automatically; "
                + "the mode is \(isDeclared ? "declared" : "not declared")",
            hint: "with fetch in modes of the configuration they are fetched while nobody is attached, too"
        )
    }

    private func failureCheck(_ sources: [FetchSource]) -> DoctorReport.Check {
        // judgement: one failure is the network's, a row of them is somebody's
        let failing = sources.filter { $0.state == .active && $0.failures >= 3 }
        return .init(
            "fetch sources",
            failing.isEmpty,
            failing.isEmpty
                ? "none fails" : failing.map { "\($0.name) failed \($0.failures) times" }.joined(separator: ", "),
            hint: "`backgrounder fetch log \(failing.first?.name.withoutControlCharacters ?? "NAME")` says why"
        )
    }

    private func diskCheck(_ transfers: [Transfer]) -> DoctorReport.Check {
        let stuck = transfers.filter { $0.state == .waiting && $0.waitingFor == .disk }
        return .init(
            "transfers",
            stuck.isEmpty,
            stuck.isEmpty
                ? "\(transfers.count) on the way"
                : stuck.map { "\($0.id) waits for room on the disk" }.joined(separator: ", "),
            hint:
                "make room where \(stuck.first?.destination.withoutControlCharacters ?? "they go") lies; it goes on by itself"
        )
    }
}
