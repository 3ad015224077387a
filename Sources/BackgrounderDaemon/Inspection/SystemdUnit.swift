import FoundationEssentials
import Glibc
import SystemSupport

/// The loaded unit `backgrounder.service`, with the restrictions that its processes run under; see systemd.exec(5).
struct SystemdUnit {
    private static let name = "backgrounder.service"

    private var properties: [String: String] = [:]

    /// Reads the lines `NAME=VALUE` that `systemctl show` prints; `nil` if no unit is loaded.
    init?(_ text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { properties[String(parts[0]), default: ""] += String(parts[1]) }
        }
        guard properties["LoadState"] == "loaded" else { return nil }
    }

    /// Asks systemd; `nil` without systemd and without the unit. Blocks.
    static func current() -> SystemdUnit? {
        let names = [
            "LoadState", "MainPID", "User", "IPAddressAllow", "IPAddressDeny", "ProtectHome", "ProtectSystem",
            "ReadWritePaths", "BindPaths", "BindReadOnlyPaths", "StateDirectory", "PrivateUsers", "SupplementaryGroups",
        ]
        guard let pipe = popen("systemctl show \(name) --property=\(names.joined(separator: ",")) 2>/dev/null", "r")
        else { return nil }
        defer { pclose(pipe) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while case let count = fread(&block, 1, block.count, pipe), count > 0 { bytes += block.prefix(count) }
        return SystemdUnit(String(decoding: bytes, as: UTF8.self))
    }

    /// The process of the service; `nil` while it does not run.
    var pid: Int32? { properties["MainPID"].flatMap { Int32($0) }.flatMap { $0 == 0 ? nil : $0 } }

    /// The user that the service runs as.
    var user: String { properties["User"].flatMap { $0.isEmpty ? nil : $0 } ?? "root" }

    /// Whether connections are limited to this machine.
    var isLocal: Bool {
        let allowed = words("IPAddressAllow").filter { !$0.hasPrefix("127.") && !$0.hasPrefix("::1") }
        return words("IPAddressDeny").contains { ["any", "0.0.0.0/0", "::/0"].contains($0) } && allowed.isEmpty
    }

    /// Whether the unit hides `path`, which is absolute.
    func hides(_ path: String) -> Bool {
        guard ["yes", "tmpfs"].contains(properties["ProtectHome"]) else { return false }
        return ["/home", "/root", "/run/user"].contains { isPath(path, in: $0) }
            && !isBound(path, ["BindPaths", "BindReadOnlyPaths"])
    }

    /// Whether the unit makes `path`, which is absolute, read-only.
    func protects(_ path: String) -> Bool {
        guard properties["ProtectSystem"] == "strict" else { return false }
        let own = words("StateDirectory").map { "/var/lib/\($0)" }
        return !own.contains { isPath(path, in: $0) } && !isBound(path, ["ReadWritePaths", "BindPaths"])
    }

    /// Whether the service can give its sockets to the group `name`.
    func admits(group name: String) -> Bool {
        properties["PrivateUsers"] != "yes" && words("SupplementaryGroups").contains(name) || name == user
    }

    private func isBound(_ path: String, _ names: [String]) -> Bool {
        names.flatMap(words).contains { word in
            // Such as `-/srv`, or `/home/ann/Music:/home/ann/Music:rbind`, whose second part is the path in the unit.
            let parts = word.drop { "-+".contains($0) }.split(separator: ":").map(String.init)
            return parts.count > 1 ? isPath(path, in: parts[1]) : parts.first.map { isPath(path, in: $0) } ?? false
        }
    }

    private func words(_ name: String) -> [String] { (properties[name] ?? "").split(separator: " ").map(String.init) }
}
