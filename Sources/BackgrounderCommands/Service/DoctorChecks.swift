import BackgrounderAPI
import SystemSupport

extension ServiceStatus {
    /// The doctor's checks of fetches, transfers, pushes and publishers; empty if there are none.
    func backgroundChecks(pushes: [PushStatus]) -> [DoctorReport.Check] {
        var checks: [DoctorReport.Check] = []
        if let fetch, !fetch.isEmpty { checks += [modeCheck(fetch)] + failureChecks(fetch) }
        if let transfers, !transfers.isEmpty { checks.append(diskCheck(transfers)) }
        if !pushes.isEmpty { checks.append(pushCheck(pushes)) }
        checks += (publishers ?? []).map(\.check)
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

    /// One check for each failing source, or one for all.
    private func failureChecks(_ sources: [FetchSource]) -> [DoctorReport.Check] {
        // Tuned: a single failure is usually the network; three in a row need attention
        let failing = sources.filter { $0.state == .active && $0.failures >= 3 }
        guard failing.isEmpty else {
            return failing.map { source in
                .init(
                    "fetch sources",
                    false,
                    "\(source.name) failed \(source.failures) times in a row",
                    hint: "`backgrounder fetch log \(source.name.withoutControlCharacters)` shows why"
                )
            }
        }
        let failed = sources.filter { $0.failures > 0 }
        let words = failed.map { "\($0.name) failed \($0.failures == 1 ? "once" : "twice"); it is retried" }
        return [.init("fetch sources", true, words.isEmpty ? "no failures" : words.joined(separator: ", "))]
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

extension LocationStatus {
    /// The doctor's check of the running location mode.
    var check: DoctorReport.Check {
        let isWell: Bool
        switch quality {
        // A file has no receiver that could search.
        case .searching: isWell = connection != .connected || !updating
        case .ok, nil: isWell = true
        case .starved, .silent, .noDevice, .disconnected: isWell = !updating
        }
        let detail = qualityDetail.map { ": \($0)" } ?? ""
        return .init(
            "location",
            isWell,
            "\(connection.rawValue), \(source), \(quality?.rawValue ?? "off")\(detail)",
            hint: quality?.remedy
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

extension PublisherStatus {
    fileprivate var check: DoctorReport.Check {
        let receiver = url.hasPrefix("mqtt") ? "broker" : "server"
        // Nothing was sent to a server yet.
        let isIdle = receiver == "server" && state == .waiting && why == nil && backlog == 0
        return .init(
            "publish",
            state == .connected || state == .paused || isIdle,
            line,
            hint: state == .failed
                ? "check that the \(receiver) knows this machine and that the credentials are right"
                : "check that the \(receiver) runs, and that the network and the systemd unit let this service reach it; the points are kept"
        )
    }
}
