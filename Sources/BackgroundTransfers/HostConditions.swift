package import BackgrounderAPI
import FoundationEssentials
import Glibc
import SystemSupport

/// The conditions under which discretionary transfers may run.
package protocol HostConditions: Sendable {
    /// Returns the condition to wait for; `nil` if transfers may run. May block on hardware.
    func obstacle() -> TransferWait?
}

/// The conditions on Linux: mains power or a charged battery, a network that is not metered, and a machine that is not
/// busy.
package struct LinuxConditions: HostConditions {
    /// The battery charge from which transfers may run, in percent. Tuned: the rest is left for other uses.
    static let enoughCharge = 40

    private let power: String
    private let load: String
    private let interfaces: @Sendable () -> [String]

    /// Creates conditions that read `/sys/class/power_supply`, `/proc/loadavg` and the default routes.
    package init() {
        self.init(power: "/sys/class/power_supply", load: "/proc/loadavg", interfaces: { DefaultRoutes().interfaces })
    }

    init(power: String, load: String, interfaces: @escaping @Sendable () -> [String]) {
        (self.power, self.load, self.interfaces) = (power, load, interfaces)
    }

    /// Returns `power`, `network` or `limiter` (the machine is busy), in this order; `nil` if transfers may run.
    package func obstacle() -> TransferWait? {
        if !hasPower { return .power }
        // Without any route, the attempt itself reports it.
        let ways = interfaces()
        if !ways.isEmpty, ways.allSatisfy(Self.isMetered) { return .network }
        return isBusy ? .limiter : nil
    }

    /// Returns whether a network interface is likely to be metered: a modem, a dial-up line or a tethered phone, by its
    /// name.
    static func isMetered(_ interface: String) -> Bool {
        ["wwan", "ppp", "usb", "rmnet", "wwp"].contains(where: interface.hasPrefix)
    }

    /// Whether a mains supply is online, a battery is charging or full, or all batteries have enough charge.
    private var hasPower: Bool {
        let supplies = (try? FileManager.default.contentsOfDirectory(atPath: power)) ?? []
        var charges: [Int] = []
        for supply in supplies {
            let word = { (name: String) in read("\(power)/\(supply)/\(name)") }
            // Skip the batteries of peripherals, such as a mouse.
            guard word("scope") != "Device" else { continue }
            if word("type") == "Battery" {
                if ["Charging", "Full", "Not charging"].contains(word("status")) { return true }
                if let charge = Int(word("capacity")) { charges.append(charge) }
            } else if word("online") == "1" {
                return true
            }
        }
        return charges.allSatisfy { $0 >= Self.enoughCharge }
    }

    /// Whether the load average of the last minute is at least the number of processors.
    private var isBusy: Bool {
        guard let load = Double(read(load).prefix { $0 != " " }) else { return false }
        return load >= Double(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }

    /// Returns the first line of a file; empty if it cannot be read.
    private func read(_ path: String) -> String {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return "" }
        return String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    }
}
