/// The results of all checks of `backgrounder doctor`.
package struct DoctorReport: Codable, Hashable, Sendable {
    /// The result of one check.
    package struct Check: Codable, Hashable, Sendable {
        package var name: String
        package var ok: Bool
        package var message: String
        /// The suggested fix; `nil` if the check passed.
        package var hint: String?

        /// Creates a result.
        ///
        /// - Parameter hint: the fix to suggest if the check fails.
        package init(_ name: String, _ ok: Bool, _ message: String, hint: String? = nil) {
            self.name = name
            self.ok = ok
            self.message = message
            self.hint = ok ? nil : hint
        }

        /// Creates a failed check from an error message, which says what to do after its last semicolon.
        ///
        /// - Parameter otherwise: the hint for a message without a semicolon.
        package init(_ name: String, failure: String, otherwise: String) {
            let parts = failure.split(separator: "; ")
            guard parts.count > 1 else {
                self.init(name, false, failure, hint: otherwise)
                return
            }
            self.init(name, false, parts.dropLast().joined(separator: "; "), hint: String(parts[parts.count - 1]))
        }
    }

    package var checks: [Check]

    /// Creates a report.
    package init(checks: [Check]) {
        self.checks = checks
    }
}

extension FixQuality {
    /// The remedy in one line; `nil` if fixes arrive.
    package var remedy: String? {
        switch self {
        case .ok: nil
        case .searching: "give the antenna a clear view of the sky; a cold receiver needs up to 15 minutes there"
        case .starved: "see `backgrounder location`; a coarser `backgrounder location accuracy` accepts more fixes"
        case .silent: "check the receiver's cable and power; `gpsctl` shows whether gpsd recognises it"
        case .noDevice: "check the receiver's cable, then run `sudo gpsdctl add /dev/ttyUSB0` with its device"
        case .disconnected:
            "start gpsd, for example with `sudo systemctl start gpsd.socket`; `gpsctl` shows whether it answers"
        }
    }
}
