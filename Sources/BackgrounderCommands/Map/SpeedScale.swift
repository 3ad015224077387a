/// A colour scale for speeds: classes of equal width in km/h, each with its own colour.
struct SpeedScale {
    /// Colours of the viridis palette. Brightness grows with the value, so the scale also works in grey and with colour
    /// blindness.
    static let colours = ["#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"]
    /// The colour of an unknown speed.
    static let unknownColour = "#888888"

    /// The width of a class in km/h: 1, 2 or 5 times a power of ten.
    let step: Double

    /// Creates a scale for speeds up to `top`, in metres per second.
    init(top: Double) {
        // A file may state any speed. Nothing is faster than light.
        step = max(1, niceCeiling(min(top, 299_792_458) * 3.6 / Double(Self.colours.count)))
    }

    /// Returns the colour of `speed`, in metres per second.
    func colour(_ speed: Double?) -> String {
        guard let speed, speed.isFinite else { return Self.unknownColour }
        return Self.colours[Int(min(max(speed, 0) * 3.6 / step, Double(Self.colours.count - 1)))]
    }
}

/// Returns the smallest number of the form 1, 2 or 5 times a power of ten that is at least `value`, which is positive.
func niceCeiling(_ value: Double) -> Double {
    var power = 1.0
    while power * 10 <= value { power *= 10 }
    while power > value { power /= 10 }
    return [1, 2, 5].map { $0 * power }.first { $0 >= value } ?? 10 * power
}
