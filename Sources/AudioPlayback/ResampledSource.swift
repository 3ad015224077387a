/// Any source in one format that never changes, whatever its own is and becomes.
///
///     let jingle = try ResampledSource(openSampleSource(file), to: musicFormat)
///
/// Where the formats are equal the samples pass bit by bit. One thread uses it at a time.
final class ResampledSource: SampleSource {
    let format: AudioFormat
    private let source: any SampleSource
    /// Absent while the formats are equal.
    private var converter: FormatConverter?
    /// What was read and not yet converted.
    private let input: UnsafeMutableBufferPointer<Int16>
    private var pending: Range<Int> = 0..<0
    private var ending: Ending?

    /// Why the converter is being emptied.
    private enum Ending { case end, change }

    init(_ source: any SampleSource, to format: AudioFormat) throws(DecodingFault) {
        converter = try Self.converter(from: source.format, to: format)
        self.source = source
        self.format = format
        // Room for a block of any channel count.
        input = .allocate(capacity: 1 << 15)
    }

    deinit { input.deallocate() }

    private static func converter(
        from source: AudioFormat,
        to target: AudioFormat
    ) throws(DecodingFault) -> FormatConverter? {
        source == target ? nil : try FormatConverter(from: source, to: target)
    }

    var fault: DecodingFault? { source.fault }
    var replayGain: ReplayGain { source.replayGain }

    /// `frame` is counted at ``format``'s rate.
    func seek(toFrame frame: Int) throws(DecodingFault) {
        let inner = Double(max(0, frame)) * Double(source.format.rate) / Double(format.rate)
        try source.seek(toFrame: format.rate == source.format.rate ? frame : Int(exactly: inner.rounded()) ?? .max)
        pending = 0..<0
        ending = nil
        converter = try Self.converter(from: source.format, to: format)
    }

    /// Never says `changed`.
    func read(into samples: UnsafeMutableBufferPointer<Int16>) throws(DecodingFault) -> SampleRead {
        guard let output = samples.baseAddress, let start = input.baseAddress else { return .frames(0) }
        let capacity = samples.count / format.channels
        while true {
            switch (ending, converter) {
            case (nil, nil):
                let read = try source.read(into: samples)
                if read != .changed { return read }
                converter = try Self.converter(from: source.format, to: format)
            case (nil, let converter?):
                if pending.isEmpty { try fill() }
                guard !pending.isEmpty else { continue }
                let from = start + pending.lowerBound * converter.source.channels
                let step = try converter.convert(from, frames: pending.count, into: output, capacity: capacity)
                pending = pending.lowerBound + step.taken..<pending.upperBound
                if step.given > 0 { return .frames(step.given) }
            case (let why?, let converter):
                let count = try converter?.drain(into: output, capacity: capacity) ?? 0
                if count > 0 { return .frames(count) }
                if why == .end { return .end }
                ending = nil
                self.converter = try Self.converter(from: source.format, to: format)
            }
        }
    }

    private func fill() throws(DecodingFault) {
        switch try source.read(into: input) {
        case .frames(let count): pending = 0..<count
        case .changed: ending = .change
        case .end: ending = .end
        }
    }

    /// What the item is, not what it is turned into: tags, length and format of the source.
    func metadata() throws(DecodingFault) -> Metadata { try source.metadata() }
}
