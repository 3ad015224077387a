package import BackgrounderAPI
import Glibc

/// The loudness tags of an item: gains in dB, peaks relative to full scale (1).
package struct ReplayGain: Hashable, Sendable {
    package var track: Value?
    package var album: Value?

    /// Creates the tags of an item.
    package init(track: Value? = nil, album: Value? = nil) {
        (self.track, self.album) = (track, album)
    }

    /// A gain and the loudest sample.
    package struct Value: Hashable, Sendable {
        package let gain: Double
        /// The loudest sample, if known.
        package let peak: Double?

        /// Tuned: the valid gains in dB; a tag outside of them is a mistake.
        package static let gains = -60.0...24.0

        /// Returns nil if `gain` is not a valid gain.
        package init?(gain: Double, peak: Double? = nil) {
            guard Self.gains.contains(gain) else { return nil }
            self.gain = gain
            self.peak = peak.flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
        }

        /// The factor, limited so that the loudest sample does not clip.
        package var factor: Double { min(pow(10, gain / 20), peak.map { 1 / $0 } ?? .infinity) }
    }

    /// Returns the factor for the samples. If only one of the two gains is there, it serves for both; without any, 1.
    package func factor(_ mode: ReplayGainMode) -> Double {
        switch mode {
        case .off: 1
        case .track: (track ?? album)?.factor ?? 1
        case .album, .auto: (album ?? track)?.factor ?? 1
        }
    }
}

extension ReplayGain {
    /// Reads the gains from Vorbis comments (ReplayGain 2.0, section "Metadata format"; RFC 7845, section 5.2.1) or from
    /// tags with the same names. `comment` returns the value for a name in upper case.
    package init(comment: (String) -> String?) {
        func value(_ kind: String) -> Value? {
            if let text = comment("REPLAYGAIN_\(kind)_GAIN"), let gain = Self.number(text) {
                return Value(gain: gain, peak: comment("REPLAYGAIN_\(kind)_PEAK").flatMap(Self.number))
            }
            // In units of 1/256 dB relative to -23 LUFS; ReplayGain refers to -18.
            guard let gain = comment("R128_\(kind)_GAIN").flatMap({ Int16($0) }) else { return nil }
            return Value(gain: Double(gain) / 256 + 5)
        }
        self.init(track: value("TRACK"), album: value("ALBUM"))
    }

    /// Parses a number, with or without a unit after it.
    private static func number(_ text: String) -> Double? {
        let words = text.split { $0 == " " || $0 == "\t" }
        guard let first = words.first, words.count == 1 || (words.count == 2 && words[1].lowercased() == "db") else {
            return nil
        }
        return Double(first)
    }
}
