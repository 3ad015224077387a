import ArgumentParser
import BackgrounderAPI
import SystemSupport

extension AudioCommand {
    struct Drivers: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drivers",
            abstract: "List the audio drivers and whether each is available now.",
            discussion: """
                EXAMPLE
                  backgrounder audio drivers
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let drivers = try await reading.client.call(Routes.drivers)
            try reading.show(drivers) { drivers in
                var table = Table([("DRIVER", .left), ("KIND", .left), ("AVAILABLE", .left), ("DEVICES", .left)])
                for driver in drivers {
                    let devices = (driver.devices ?? []).map(\.summary)
                    let available = driver.available ? "yes" : "no"
                    table.add([driver.name, driver.live ? "live" : "file", available, devices.first ?? ""])
                    for device in devices.dropFirst() { table.add(["", "", "", device]) }
                }
                return table.render()
            }
        }
    }
}

extension AudioDevice {
    /// Such as `alsa_output.usb, USB Speaker (default)`. The name comes first because the driver option takes it.
    fileprivate var summary: String {
        [name, description].compactMap(\.self).joined(separator: ", ") + (isDefault == true ? " (default)" : "")
    }
}
