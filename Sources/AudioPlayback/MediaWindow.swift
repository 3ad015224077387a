import Glibc

/// A part of a ``MediaFile`` as a C library reads it, through a buffer that spares the kernel its many small reads.
///
/// One thread uses it at a time. The source that gives it to a library keeps it alive.
final class MediaWindow {
    let file: MediaFile
    /// Where in the file it lies.
    let range: Range<Int>
    /// The system's error number of a read that failed; the library only sees that nothing came.
    private(set) var failure: CInt?
    /// Bytes that may still be read, where a library is not trusted to come to an end.
    var budget = Int.max
    private var position = 0
    private var buffer: UnsafeMutableRawBufferPointer
    /// What the buffer holds, counted from the start of the window.
    private var buffered = 0..<0

    private static let bufferSize = 1 << 15

    init(_ file: MediaFile, _ range: Range<Int>? = nil) {
        self.file = file
        self.range = range ?? 0..<file.size
        buffer = .allocate(byteCount: Self.bufferSize, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Fills `memory` as far as there is something; -1 when the first read fails.
    func read(into memory: UnsafeMutableRawPointer, count: Int) -> Int {
        var done = 0
        let wanted = min(count, range.count - position, budget)
        while done < wanted {
            if !buffered.contains(position) {
                // A large read is the library's own buffering.
                let isLarge = wanted - done >= Self.bufferSize
                guard let base = buffer.baseAddress else { break }
                let room = isLarge ? wanted - done : min(Self.bufferSize, range.count - position)
                let count = fill(isLarge ? memory + done : base, room)
                guard count > 0 else { return done > 0 || count == 0 ? done : -1 }
                if isLarge {
                    position += count
                    done += count
                    continue
                }
                buffered = position..<position + count
            }
            let part = min(wanted - done, buffered.upperBound - position)
            guard let from = buffer.baseAddress else { break }
            (memory + done).copyMemory(from: from + (position - buffered.lowerBound), byteCount: part)
            position += part
            done += part
        }
        budget -= done
        return done
    }

    /// Up to `count` bytes at `offset` of the file, from the buffer where they are in it. Moves nothing.
    func peek(at offset: Int, count: Int) -> [UInt8] {
        let start = offset - range.lowerBound
        guard buffered.contains(start), start + count <= buffered.upperBound else {
            return file.bytes(at: offset, count: count)
        }
        return Array(buffer[start - buffered.lowerBound..<start - buffered.lowerBound + count])
    }

    private func fill(_ memory: UnsafeMutableRawPointer, _ count: Int) -> Int {
        while true {
            let count = pread(file.descriptor, memory, count, off_t(range.lowerBound + position))
            if count < 0, errno == EINTR { continue }
            if count < 0 { failure = errno }
            return count
        }
    }

    /// As lseek(2) does it.
    func seek(_ offset: Int, _ whence: CInt) -> Int {
        let base =
            switch whence {
            case SEEK_CUR: position
            case SEEK_END: range.count
            default: 0
            }
        let (target, isTooFar) = base.addingReportingOverflow(offset)
        guard !isTooFar, target >= 0 else { return -1 }
        position = target
        return target
    }

    func tell() -> Int { position }

    /// The object behind a library's pointer.
    static func behind(_ pointer: UnsafeMutableRawPointer?) -> MediaWindow? {
        pointer.map { Unmanaged<MediaWindow>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The pointer to give to a library.
    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
}
