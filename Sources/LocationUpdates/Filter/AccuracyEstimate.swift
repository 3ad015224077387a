import BackgrounderAPI
import FoundationEssentials

/// A horizontal accuracy in metres on Core Location's scale, and its source.
struct AccuracyEstimate: Hashable {
    var value: Double
    var source: AccuracySource
}

/// The error reports of each receiver besides its fixes: HDOP from SKY, standard deviations from GST.
struct AccuracyEvidence: Codable, Hashable, Sendable {
    private struct Device: Codable, Hashable, Sendable {
        var name: String?
        /// Of the last two SKY reports, newest last: gpsd computes `eph` from the current HDOP or from the previous one.
        var hdops: [Double] = []
        var gst: StandardErrors?
    }

    private struct StandardErrors: Codable, Hashable, Sendable {
        var time: Date
        var value: Double
    }

    /// Ordered by their last report, newest last. Bounded, so that a multiplexer cannot fill the memory.
    private var devices: [Device] = []
    private static let limit = 8

    mutating func receiveSky(hdop: Double, device: String?) {
        guard let hdop = hdop.positive else { return }
        update(device) { $0.hdops = $0.hdops.suffix(1) + [hdop] }
    }

    mutating func receiveGST(time: Date, latitudeError: Double, longitudeError: Double, device: String?) {
        guard let latitudeError = latitudeError.error, let longitudeError = longitudeError.error else { return }
        let value = (latitudeError * latitudeError + longitudeError * longitudeError).squareRoot()
        guard value.isFinite else { return }
        update(device) { $0.gst = StandardErrors(time: time, value: value) }
    }

    /// Returns the best estimate for `fix`, or `nil` if nothing is known. See docs/behaviour.md, Accuracy estimate.
    func estimate(_ fix: Fix) -> AccuracyEstimate? {
        guard fix.isFromReceiver else { return Self.estimateOfFile(fix) }
        let device = devices.last { $0.name == fix.device }
        if let gst = device?.gst, let time = fix.time, abs(time.timeIntervalSince(gst.time)) <= Self.gstAge + 1e-6 {
            return AccuracyEstimate(value: gst.value, source: .gst)
        }
        if let eph = fix.eph?.error {
            guard Self.isModel(eph, status: fix.status, hdops: device?.hdops ?? []) else {
                return AccuracyEstimate(value: eph, source: .receiver)
            }
            let value = eph / Self.modelConfidence
            return switch fix.status {
            case 3: AccuracyEstimate(value: min(value, Self.rtkFixedAccuracy), source: .model)
            case 4: AccuracyEstimate(value: min(value, Self.rtkFloatAccuracy), source: .model)
            default: AccuracyEstimate(value: value, source: .model)
            }
        }
        if let epx = fix.epx?.error, let epy = fix.epy?.error,
            let value = ((epx * epx + epy * epy).squareRoot() / Self.modelConfidence).finite
        {
            return AccuracyEstimate(value: value, source: .model)
        }
        return nil
    }

    private static func estimateOfFile(_ fix: Fix) -> AccuracyEstimate? {
        if let stated = fix.statedAccuracy?.error { return AccuracyEstimate(value: stated, source: .file) }
        guard let hdop = fix.hdop?.positive,
            let value = (hdop * Self.rangeError / Self.modelConfidence).error
        else { return nil }
        return AccuracyEstimate(value: value, source: .model)
    }

    /// Returns whether `eph` comes from gpsd's model rather than from the receiver.
    private static func isModel(_ eph: Double, status: Int, hdops: [Double]) -> Bool {
        let factor = status == 2 ? Self.rangeErrorDGPS : Self.rangeError
        if hdops.contains(where: { abs(eph - factor * $0) <= Self.modelTolerance * factor * $0 }) { return true }
        let step = factor / 100
        let multiple = (eph / step).rounded()
        return multiple >= 1 && abs(eph - multiple * step) <= Self.modelGridTolerance
    }

    private mutating func update(_ name: String?, _ change: (inout Device) -> Void) {
        var device = Device(name: name)
        if let index = devices.firstIndex(where: { $0.name == name }) { device = devices.remove(at: index) }
        change(&device)
        devices.append(device)
        if devices.count > Self.limit { devices.removeFirst() }
    }
    // gpsd's model: eph = error × HDOP, a 95 % figure, in metres.
    private static let rangeError = 19.0
    private static let rangeErrorDGPS = 4.75
    /// Ratio of the 95 % circle to Core Location's 63 % circle, for a circular Gaussian: 2.448 σ / 1.414 σ.
    private static let modelConfidence = 1.731
    /// The relative error within which an `eph` is considered the model's.
    private static let modelTolerance = 0.01
    /// HDOP has two decimals and gpsd prints three, so the model's `eph` is a whole multiple of a hundredth of the range error
    /// within this tolerance.
    private static let modelGridTolerance = 0.0006
    private static let rtkFixedAccuracy = 1.0
    private static let rtkFloatAccuracy = 2.0
    /// The greatest difference between the times of a fix and of a GST report for it, in seconds.
    private static let gstAge = 1.5
}
