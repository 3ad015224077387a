/// Converts between numbers of channels.
///
/// Channels have the order of WAVE files. A channel that both layouts have is copied, and mono goes to left and right. A
/// channel that the target lacks goes to its neighbours, 3 dB down as in ITU-R BS.775: the centre to left and right, the
/// back to the side or the front. An LFE is dropped. If a sum could clip, all channels are attenuated together.
struct ChannelMix {
    let source: Int
    let target: Int
    /// The factors of the source's channels, one row per channel of the target; empty if nothing is mixed.
    private let factors: [Float]

    init(from source: Int, to target: Int) {
        self.source = source
        self.target = target
        factors = source == target ? [] : Self.factors(Speaker.layout(source), Speaker.layout(target))
    }

    /// Mixes `frames` frames. Equal numbers of channels are copied unchanged. Input and output must not overlap.
    func apply(_ input: UnsafePointer<Int16>, frames: Int, into output: UnsafeMutablePointer<Int16>) {
        guard !factors.isEmpty else { return output.update(from: input, count: frames * source) }
        factors.withUnsafeBufferPointer { factors in
            for frame in 0..<frames {
                for channel in 0..<target {
                    var sum: Float = 0
                    for from in 0..<source {
                        sum += factors[channel * source + from] * Float(input[frame * source + from])
                    }
                    // Rows sum to at most 1, but rounding may still exceed the range by one.
                    output[frame * target + channel] = Int16(max(-32768, min(32767, sum.rounded(.toNearestOrEven))))
                }
            }
        }
    }

    private static func factors(_ source: [Speaker], _ target: [Speaker]) -> [Float] {
        var factors = [Float](repeating: 0, count: source.count * target.count)
        for (column, speaker) in source.enumerated() {
            for (place, factor) in places(of: speaker, in: target) {
                guard let row = target.firstIndex(of: place) else { continue }
                factors[row * source.count + column] = factor
            }
        }
        let sums = target.indices.map { row in
            factors[row * source.count..<(row + 1) * source.count].reduce(0, +)
        }
        guard let loudest = sums.max(), loudest > 1 else { return factors }
        return factors.map { $0 / loudest }
    }

    /// Returns the channels of the target that play `speaker`, with their factors.
    private static func places(of speaker: Speaker, in target: [Speaker]) -> [(Speaker, Float)] {
        let down = Float(0.5).squareRoot()
        if target.contains(speaker) { return [(speaker, 1)] }
        if target == [.mono] {
            return switch speaker {
            case .low: []
            case .left, .right: [(.mono, 0.5)]
            case .centre: [(.mono, down)]
            default: [(.mono, down / 2)]
            }
        }
        func first(_ choices: [[Speaker]]) -> [Speaker] { choices.first { Set($0).isSubset(of: target) } ?? [] }
        return switch speaker {
        case .mono: [(.left, 1), (.right, 1)]
        case .centre: [(.left, down), (.right, down)]
        case .backLeft: first([[.sideLeft], [.left]]).map { ($0, down) }
        case .backRight: first([[.sideRight], [.right]]).map { ($0, down) }
        case .sideLeft: first([[.backLeft], [.left]]).map { ($0, down) }
        case .sideRight: first([[.backRight], [.right]]).map { ($0, down) }
        case .back:
            first([[.backLeft, .backRight], [.sideLeft, .sideRight], [.left, .right]]).map { ($0, down * down) }
        case .left, .right, .low: []
        }
    }
}

/// The position of a channel.
private enum Speaker {
    case mono, left, right, centre, low, back, backLeft, backRight, sideLeft, sideRight

    /// Returns the layout in the order of WAVE files, which the device is opened with too.
    static func layout(_ channels: Int) -> [Speaker] {
        switch channels {
        case 1: [.mono]
        case 2: [.left, .right]
        case 3: [.left, .right, .centre]
        case 4: [.left, .right, .backLeft, .backRight]
        case 5: [.left, .right, .centre, .backLeft, .backRight]
        case 6: [.left, .right, .centre, .low, .backLeft, .backRight]
        case 7: [.left, .right, .centre, .low, .back, .sideLeft, .sideRight]
        default: [.left, .right, .centre, .low, .backLeft, .backRight, .sideLeft, .sideRight]
        }
    }
}
