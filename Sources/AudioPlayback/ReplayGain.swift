import BackgrounderAPI
import Glibc

/// What the tags of an item say about its loudness: gains in dB, peaks with 1 as full scale.
struct ReplayGain: Hashable, Sendable {
    var track: Value?
    var album: Value?

    struct Value: Hashable, Sendable {
        let gain: Double
        /// The loudest sample, where it is known.
        let peak: Double?

        /// judgement: dB; a tag beyond them is a mistake.
        static let gains = -60.0...24.0

        /// `nil` for what is no gain.
        init?(gain: Double, peak: Double? = nil) {
            guard Self.gains.contains(gain) else { return nil }
            self.gain = gain
            self.peak = peak.flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
        }

        /// Not so much that the loudest sample would be cut.
        var factor: Double { min(pow(10, gain / 20), peak.map { 1 / $0 } ?? .infinity) }
    }

    /// What the samples are multiplied with. An item with one of the two values only has that one; without any, 1.
    func factor(_ mode: ReplayGainMode) -> Double {
        switch mode {
        case .off: 1
        case .track: (track ?? album)?.factor ?? 1
        case .album, .auto: (album ?? track)?.factor ?? 1
        }
    }
}

extension ReplayGain {
    /// From Vorbis comments (ReplayGain 2.0, section "Metadata format"; RFC 7845, section 5.2.1) or tags that use their
    /// names. `comment` is asked for upper case names.
    init(comment: (String) -> String?) {
        func value(_ kind: String) -> Value? {
            if let text = comment("REPLAYGAIN_\(kind)_GAIN"), let gain = Self.number(text) {
                return Value(gain: gain, peak: comment("REPLAYGAIN_\(kind)_PEAK").flatMap(Self.number))
            }
            // In 1/256 dB below -23 LUFS, where ReplayGain is at -18.
            guard let gain = comment("R128_\(kind)_GAIN").flatMap({ Int16($0) }) else { return nil }
            return Value(gain: Double(gain) / 256 + 5)
        }
        self.init(track: value("TRACK"), album: value("ALBUM"))
    }

    /// A number, with or without a unit behind it.
    private static func number(_ text: String) -> Double? {
        let words = text.split { $0 == " " || $0 == "\t" }
        guard let first = words.first, words.count == 1 || (words.count == 2 && words[1].lowercased() == "db") else {
            return nil
        }
        return Double(first)
    }
}

extension Pipeline {
    /// What the next samples of the music are multiplied with, in parts of 65,536: `level`, as the gain of their item has it.
    func gain(_ state: PipelineState, on level: Int32) -> Int32 {
        guard state.replayGain != .off, let read = state.ring?.read,
            let mark = state.marks.last(where: { $0.frame <= read })
        else { return level }
        return Int32((Double(level) * mark.replayGain.factor(state.replayGain)).rounded())
    }
}
