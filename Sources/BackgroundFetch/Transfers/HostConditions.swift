package import BackgrounderAPI
import FoundationEssentials
import Glibc

/// What a transfer that is not urgent waits for.
package protocol HostConditions: Sendable {
    /// What is not as it should be; `nil` when all is well. May wait for hardware.
    func obstacle() -> TransferWait?
}

/// Mains, or enough in the battery; a network that is not paid by what is used; a processor with time.
package struct LinuxConditions: HostConditions {
    /// judgement: percent of the charge that is left for other things
    static let enoughCharge = 40

    private let power: String
    private let load: String
    private let interfaces: @Sendable () -> [String]

    package init() {
        self.init(power: "/sys/class/power_supply", load: "/proc/loadavg", interfaces: DefaultRoutes.interfaces)
    }

    init(power: String, load: String, interfaces: @escaping @Sendable () -> [String]) {
        (self.power, self.load, self.interfaces) = (power, load, interfaces)
    }

    package func obstacle() -> TransferWait? {
        if !hasPower { return .power }
        // Where there is no way at all, the attempt says so.
        let ways = interfaces()
        if !ways.isEmpty, ways.allSatisfy(Self.isMetered) { return .network }
        return isBusy ? .limiter : nil
    }

    /// Modems, dial-up lines and phones on a cable: their names say so.
    static func isMetered(_ interface: String) -> Bool {
        ["wwan", "ppp", "usb", "rmnet", "wwp"].contains(where: interface.hasPrefix)
    }

    private var hasPower: Bool {
        let supplies = (try? FileManager.default.contentsOfDirectory(atPath: power)) ?? []
        var charges: [Int] = []
        for supply in supplies {
            let word = { (name: String) in read("\(power)/\(supply)/\(name)") }
            // The battery of a mouse says nothing of this machine.
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

    private var isBusy: Bool {
        guard let load = Double(read(load).prefix { $0 != " " }) else { return false }
        return load >= Double(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }

    private func read(_ path: String) -> String {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return "" }
        return String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    }
}
