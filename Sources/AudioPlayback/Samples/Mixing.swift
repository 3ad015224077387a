/// The level that leaves samples unchanged.
let fullLevel: Int32 = 65_536

/// Returns the change of the music's level per frame. Tuned: from full to silence in 50 ms, neither a click nor a fade.
func levelSlope(rate: Int) -> Int32 { (fullLevel * 20 + Int32(rate) - 1) / Int32(rate) }

/// Multiplies frames by a level in parts of ``fullLevel``, rounded. The level moves towards `target` by `slope` per frame.
func applyLevel(
    _ level: inout Int32,
    target: Int32,
    slope: Int32,
    to samples: UnsafeMutablePointer<Int16>,
    frames: Int,
    channels: Int
) {
    var index = 0
    while level != target, index < frames * channels {
        level = level < target ? min(target, level + slope) : max(target, level - slope)
        for _ in 0..<channels {
            samples[index] = scaled(samples[index], by: level)
            index += 1
        }
    }
    guard level != fullLevel else { return }
    while index < frames * channels {
        samples[index] = scaled(samples[index], by: level)
        index += 1
    }
}

/// Multiplies samples by `gain` / 65,536, rounded and clipped; 65,536 leaves them unchanged.
func scale(_ samples: UnsafeMutablePointer<Int16>, count: Int, by gain: Int32) {
    switch gain {
    case 65_536: return
    case ..<65_536:
        for index in 0..<count {
            samples[index] = Int16(truncatingIfNeeded: (Int32(samples[index]) * gain + 32_768) >> 16)
        }
    default:
        for index in 0..<count {
            samples[index] = Int16(clamping: (Int(samples[index]) * Int(gain) + 32_768) >> 16)
        }
    }
}

/// Adds samples to those in `sum`, clipped to 16 bits.
func mix(_ samples: UnsafePointer<Int16>, into sum: UnsafeMutablePointer<Int16>, count: Int) {
    for index in 0..<count { sum[index] = Int16(clamping: Int32(sum[index]) + Int32(samples[index])) }
}

@inline(__always)
private func scaled(_ sample: Int16, by level: Int32) -> Int16 {
    Int16(truncatingIfNeeded: (Int32(sample) * level + 32_768) >> 16)
}
