import CMPG123
import SystemSupport

/// An MP3 that arrives in order, from a network. libmpg123 decodes it to the same samples as a file.
///
/// The memory is bounded: at most 17 MiB of bytes wait in the library until it finds the first frame, and 1 MiB later.
package final class MP3StreamSource: SampleSource {
    package private(set) var format: AudioFormat
    package private(set) var fault: DecodingFault?
    package let replayGain: ReplayGain
    private let stream: any MediaStream
    private let handle: OpaquePointer
    private let chunk = UnsafeMutableRawPointer.allocate(byteCount: MP3StreamSource.chunkSize, alignment: 16)
    /// The bytes that the library got since the last frame.
    private var unused = 0
    /// Decoded samples that did not fit into the caller's buffer, from `consumed` on.
    private var pending: [Int16] = []
    private var consumed = 0
    /// Frames in another format, which is accepted after enough of them.
    private var candidate: (format: AudioFormat, frames: Int, samples: [Int16])?
    private var isChanging = false
    private var changes = 0

    private static let chunkSize = 1 << 13

    /// Reads `stream` up to the first frame. Blocks until it has arrived.
    ///
    /// - Throws: ``DecodingFault/link(_:)`` if the stream ends before.
    package init(_ stream: any MediaStream) throws(DecodingFault) {
        guard MP3Source.isLibraryReady, let handle = mpg123_new(nil, nil) else {
            throw .broken("cannot initialize libmpg123")
        }
        MP3Source.configure(handle)
        do throws(DecodingFault) {
            format = try Self.open(handle, stream, chunk)
        } catch {
            mpg123_delete(handle)
            chunk.deallocate()
            throw error
        }
        self.stream = stream
        self.handle = handle
        replayGain = ReplayGain(mp3: handle)
    }

    deinit {
        mpg123_delete(handle)
        chunk.deallocate()
    }

    private static func open(
        _ handle: OpaquePointer,
        _ stream: any MediaStream,
        _ chunk: UnsafeMutableRawPointer
    ) throws(DecodingFault) -> AudioFormat {
        guard mpg123_open_feed(handle) == 0 else { throw .broken("cannot initialize libmpg123") }
        var head = 0
        while head < 10 {
            let count = stream.read(into: chunk + head, count: chunkSize - head)
            guard count > 0 else { throw end(of: stream) }
            head += count
        }
        try check(UnsafeRawBufferPointer(start: chunk, count: head))
        var fed = 0
        var count = head
        while true {
            mpg123_feed(handle, chunk.assumingMemoryBound(to: UInt8.self), count)
            fed += count
            if let format = try MP3Source.currentFormat(handle) {
                if let size = stream.size { cmpg123_set_filesize(handle, Int64(size)) }
                return format
            }
            guard mpg123_errcode(handle) != MPG123_RESYNC_FAIL.rawValue,
                fed < MP3Source.largestTag + MP3Source.junkLimit
            else { throw .unrecognised }
            count = stream.read(into: chunk, count: chunkSize)
            guard count > 0 else { throw end(of: stream) }
        }
    }

    private static func end(of stream: any MediaStream) -> DecodingFault {
        stream.failure.map { .link($0) } ?? .unrecognised
    }

    /// Rejects other formats by their first bytes, which libmpg123 would search for a frame in vain.
    private static func check(_ head: UnsafeRawBufferPointer) throws(DecodingFault) {
        if soundFileMarks.contains(where: { head.starts(with: $0.utf8) }) {
            throw .unsupported("only MP3 can be played from the network")
        }
        guard head.starts(with: "ID3".utf8) else { return }
        let size = head[6..<10].reduce(0) { $0 << 7 | Int($1 & 0x7F) }
        guard size <= MP3Source.largestTag else { throw .unsupported("its tag is larger than 16 MiB") }
    }

    /// Seeks to a frame: exactly at a constant bit rate, else as if the bit rate were constant. Only for files.
    package func seek(toFrame frame: Int) throws(DecodingFault) {
        pending = []
        (consumed, unused) = (0, 0)
        candidate = nil
        isChanging = false
        guard let size = stream.size, let index = index(before: frame, in: size) else { return try skip(frame) }
        cmpg123_set_index(handle, index.start, index.offset, index.frame)
        var offset: Int64 = 0
        guard cmpg123_feedseek(handle, Int64(frame), &offset) >= 0 else { throw .broken(words) }
        stream.jump(to: Int(offset))
    }

    private func skip(_ frames: Int) throws(DecodingFault) {
        let scratch = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 1 << 14)
        defer { scratch.deallocate() }
        var left = frames
        while left > 0 {
            let count = min(scratch.count, left * format.channels)
            switch try read(into: UnsafeMutableBufferPointer(rebasing: scratch[..<count])) {
            case .frames(let count): left -= count
            case .changed: continue
            case .end: return
            }
        }
    }

    /// Returns where the first MPEG frame begins, and the number and place of the one from which to decode to get to
    /// `frame`; nil near the start.
    private func index(before frame: Int, in size: Int) -> (start: Int64, offset: Int64, frame: Int64)? {
        var info = mpg123_frameinfo2()
        guard mpg123_info2(handle, &info) == 0, let samples = Self.samplesPerFrame(info) else { return nil }
        let target = frame / samples - MP3Source.framesToPrime
        let start = Int(cmpg123_frame_offset(handle))
        let length = Int(cmpg123_length(handle)) / samples
        guard target > MP3Source.framesToPrime else { return nil }
        var bytesPerFrame = 0.0
        if info.vbr == CInt(MPG123_CBR.rawValue) {
            bytesPerFrame = Double(info.bitrate * 125) * Double(samples) / Double(info.rate)
        } else if length > 0 {
            bytesPerFrame = Double(size - start) / Double(length)
        }
        // A few bytes early: padding makes some frames a byte longer, and libmpg123 finds the next header.
        let offset = start + Int(bytesPerFrame * Double(target)) - 8
        guard offset > start, offset < size else { return nil }
        return (Int64(start), Int64(offset), Int64(target))
    }

    private static func samplesPerFrame(_ info: mpg123_frameinfo2) -> Int? {
        switch info.layer {
        case 1: 384
        case 2: 1152
        case 3: info.version == CInt(MPG123_1_0.rawValue) ? 1152 : 576
        default: nil
        }
    }

    /// Fills the front of `samples`, and blocks while nothing arrives.
    package func read(into samples: UnsafeMutableBufferPointer<Int16>) throws(DecodingFault) -> SampleRead {
        while true {
            let count = min(pending.count - consumed, samples.count / format.channels * format.channels)
            if count > 0 {
                pending.withUnsafeBufferPointer { from in
                    if let to = samples.baseAddress, let from = from.baseAddress {
                        to.update(from: from + consumed, count: count)
                    }
                }
                consumed += count
                return .frames(count / format.channels)
            }
            if isChanging { return try adoptCandidate() }
            guard try decodeFrame() else { return .end }
        }
    }

    private func adoptCandidate() throws(DecodingFault) -> SampleRead {
        isChanging = false
        guard let new = candidate else { return .frames(0) }
        candidate = nil
        changes += 1
        guard changes <= DecodingFault.mostChanges else { throw .changesTooOften }
        (format, pending, consumed) = (new.format, new.samples, 0)
        return .changed
    }

    /// Decodes until there are samples or a new format. Returns false at the end.
    private func decodeFrame() throws(DecodingFault) -> Bool {
        while true {
            var audio: UnsafeMutablePointer<UInt8>?
            var bytes = 0
            let result = cmpg123_decode_frame(handle, &audio, &bytes)
            if result == MPG123_NEED_MORE.rawValue {
                guard try feed() else { return false }
                continue
            }
            guard result == 0 || result == MPG123_NEW_FORMAT.rawValue else {
                if result != MPG123_DONE.rawValue { fault = .broken(words) }
                return false
            }
            guard let audio, bytes > 0, let now = try MP3Source.currentFormat(handle) else { continue }
            unused = 0
            let count = bytes / MemoryLayout<Int16>.size
            audio.withMemoryRebound(to: Int16.self, capacity: count) {
                take(UnsafeBufferPointer(start: $0, count: count), now)
            }
            if !pending.isEmpty && consumed < pending.count || isChanging { return true }
        }
    }

    private func take(_ frame: UnsafeBufferPointer<Int16>, _ now: AudioFormat) {
        guard now != format else {
            candidate = nil
            pending.removeAll(keepingCapacity: true)
            pending.append(contentsOf: frame)
            consumed = 0
            return
        }
        if candidate?.format != now { candidate = (now, 0, []) }
        candidate?.frames += 1
        candidate?.samples.append(contentsOf: frame)
        isChanging = candidate?.frames ?? 0 >= MP3Source.framesToBelieve
    }

    /// Gives the library more bytes. Returns false at the end.
    private func feed() throws(DecodingFault) -> Bool {
        let count = stream.read(into: chunk, count: Self.chunkSize)
        guard count > 0 else {
            if let failure = stream.failure { throw .link(failure) }
            return false
        }
        unused += count
        guard unused <= MP3Source.junkLimit else { throw .damaged(skippedBytes: unused) }
        mpg123_feed(handle, chunk.assumingMemoryBound(to: UInt8.self), count)
        return true
    }

    /// Returns the format, the tags at the start, and the length of a file. Does not read.
    package func metadata() throws(DecodingFault) -> Metadata {
        var metadata = Metadata(format: format, codec: "mp3")
        let length = stream.size == nil ? -1 : Int(cmpg123_length(handle))
        if length > 0, Double(length) <= AudioFormat.latestTime * Double(format.rate) { metadata.frames = length }
        metadata.addTags(mp3: handle)
        return metadata
    }

    package var bitrate: Int? {
        let length = Int(cmpg123_length(handle))
        return mp3Bitrate(handle, bytes: stream.size, frames: length > 0 ? length : nil, rate: format.rate)
    }

    private var words: String { String(cString: mpg123_strerror(handle)) }
}
