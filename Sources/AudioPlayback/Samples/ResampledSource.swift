import MediaFiles

/// A source converted to a fixed format, even if its own format changes.
///
///     let jingle = try ResampledSource(openSampleSource(file), to: musicFormat)
///
/// If the formats are equal, the samples pass unchanged. Only one thread may use it at a time.
final class ResampledSource: SampleSource {
    let format: AudioFormat
    private let source: any SampleSource
    /// Nil while the formats are equal.
    private var converter: FormatConverter?
    /// Samples that were read but not converted yet.
    private let input: UnsafeMutableBufferPointer<Int16>
    private var pending: Range<Int> = 0..<0
    private var ending: Ending?

    /// Why the converter is being emptied.
    private enum Ending { case end, change }

    init(_ source: any SampleSource, to format: AudioFormat) throws(DecodingFault) {
        converter = try Self.converter(from: source.format, to: format)
        self.source = source
        self.format = format
        // Room for a block with any number of channels.
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

    /// Seeks to `frame`, counted at the rate of ``format``.
    func seek(toFrame frame: Int) throws(DecodingFault) {
        let inner = Double(max(0, frame)) * Double(source.format.rate) / Double(format.rate)
        try source.seek(toFrame: format.rate == source.format.rate ? frame : Int(exactly: inner.rounded()) ?? .max)
        pending = 0..<0
        ending = nil
        converter = try Self.converter(from: source.format, to: format)
    }

    /// Reads converted samples. Never returns `changed`.
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
                pending = pending.lowerBound + step.consumed..<pending.upperBound
                if step.produced > 0 { return .frames(step.produced) }
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

    /// Returns the source's own metadata, with its format before the conversion.
    func metadata() throws(DecodingFault) -> Metadata { try source.metadata() }
}
