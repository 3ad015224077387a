import Glibc

/// A part of a ``MediaFile`` that a C library reads, buffered because the libraries make many small reads.
///
/// Only one thread may use it at a time. The source that passes it to a library keeps it alive.
final class MediaWindow {
    let file: MediaFile
    /// The window's range in the file.
    let range: Range<Int>
    /// The `errno` of a failed read; the library only sees that there was no data.
    private(set) var failure: CInt?
    /// The bytes that may still be read, to stop a library that would not end.
    var budget = Int.max
    private var position = 0
    private var buffer: UnsafeMutableRawBufferPointer
    /// The buffered range, relative to the start of the window.
    private var buffered = 0..<0

    private static let bufferSize = 1 << 15

    init(_ file: MediaFile, _ range: Range<Int>? = nil) {
        self.file = file
        self.range = range ?? 0..<file.size
        buffer = .allocate(byteCount: Self.bufferSize, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Reads up to `count` bytes into `memory`. Returns their number, or -1 if the first read fails.
    func read(into memory: UnsafeMutableRawPointer, count: Int) -> Int {
        var done = 0
        let wanted = min(count, range.count - position, budget)
        while done < wanted {
            if !buffered.contains(position) {
                // Large reads are buffered by the library itself.
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

    /// Returns up to `count` bytes at `offset` of the file, from the buffer if possible. Does not move the position.
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

    /// Seeks like lseek(2).
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

    /// Returns the window for a library's pointer.
    static func behind(_ pointer: UnsafeMutableRawPointer?) -> MediaWindow? {
        pointer.map { Unmanaged<MediaWindow>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The pointer to pass to a library.
    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
}
