/// Speeds in a few classes of equal width, each with a colour of its own; in kilometres an hour, as people read them.
struct SpeedScale {
    /// The viridis palette's, whose brightness grows with the value: it reads in grey and with any colour vision.
    static let colours = ["#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"]
    /// Where nobody knows the speed.
    static let unknownColour = "#888888"

    /// The width of a class, km/h: 1, 2 or 5 times a power of ten.
    let step: Double

    /// A scale for speeds up to `top` metres a second.
    init(top: Double) {
        // A file may state any number; that of light is the greatest with a meaning.
        step = max(1, niceCeiling(min(top, 299_792_458) * 3.6 / Double(Self.colours.count)))
    }

    func colour(_ speed: Double?) -> String {
        guard let speed, speed.isFinite else { return Self.unknownColour }
        return Self.colours[Int(min(max(speed, 0) * 3.6 / step, Double(Self.colours.count - 1)))]
    }
}

/// The least of 1, 2 and 5 times a power of ten that is not below `value`, which is above 0.
func niceCeiling(_ value: Double) -> Double {
    var power = 1.0
    while power * 10 <= value { power *= 10 }
    while power > value { power /= 10 }
    return [1, 2, 5].map { $0 * power }.first { $0 >= value } ?? 10 * power
}
