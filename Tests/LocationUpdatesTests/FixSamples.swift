import BackgrounderAPI
import FoundationEssentials
import LocationUpdates

/// Returns a fix `second` seconds after a fixed start and `metres` metres north of a fixed place.
func fix(
    at second: Double,
    metres: Double = 0,
    mode: Int = 3,
    accuracy: Double? = 5,
    speed: Double? = nil,
    device: String? = "/dev/gps0",
    arrival: Double? = nil
) -> Fix {
    Fix(
        mode: mode,
        time: time(second),
        latitude: 48 + metres / metresPerDegree,
        longitude: 11,
        speed: speed,
        eph: accuracy.map(receiverError),
        device: device,
        arrival: arrival ?? second
    )
}

/// Returns a point of a file, without an accuracy unless one is given.
func point(at second: Double, metres: Double = 0, accuracy: Double? = nil, opensSegment: Bool = false) -> Fix {
    Fix(
        time: time(second),
        latitude: 48 + metres / metresPerDegree,
        longitude: 11,
        statedAccuracy: accuracy,
        opensSegment: opensSegment,
        isFromReceiver: false
    )
}

func time(_ second: Double) -> Date {
    Date(timeIntervalSince1970: ((1_700_000_000 + second) * 1000).rounded() / 1000)
}

/// The length of a degree of latitude at 48° north.
let metresPerDegree = 111_201.0

/// Returns an `eph` close to `value` that does not match gpsd's model.
private func receiverError(_ value: Double) -> Double {
    let multiple = value / 0.19
    return abs(multiple - multiple.rounded()) < 0.01 ? value + 0.01 : value
}

extension LocationFilter {
    /// Returns the reason why each fix is rejected; `nil` for an accepted fix.
    mutating func reasons(_ fixes: [Fix]) -> [RejectionReason?] {
        fixes.map { reason($0) }
    }

    mutating func reason(_ fix: Fix) -> RejectionReason? {
        switch receive(.fix(fix)) {
        case .rejected(let rejection): rejection.reason
        case .accepted, nil: nil
        }
    }

    mutating func location(_ fix: Fix) -> Location? {
        guard case .accepted(let location) = receive(.fix(fix)) else { return nil }
        return location
    }

    mutating func rejection(_ fix: Fix) -> Rejection? {
        guard case .rejected(let rejection) = receive(.fix(fix)) else { return nil }
        return rejection
    }
}

/// Returns a report as gpsd writes it, `second` seconds after a fixed start and `metres` metres north of a fixed place.
func tpv(at second: Int, metres: Double = 0, device: String = "/dev/gps0", eph: Double? = 5, mode: Int = 3) -> String {
    let when = Date(timeIntervalSince1970: 1_700_000_000 + Double(second)).formatted(.iso8601)
    let place = mode < 2 ? "" : ",\"lat\":\(48 + metres / metresPerDegree),\"lon\":11.0,\"altMSL\":500.0"
    let error = eph.map { ",\"eph\":\($0)" } ?? ""
    return
        "{\"class\":\"TPV\",\"device\":\"\(device)\",\"mode\":\(mode),\"time\":\"\(when)\"\(place)\(error),\"speed\":1.000}"
}
