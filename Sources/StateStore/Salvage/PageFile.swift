import Glibc
import Synchronization

/// The pages of the database while it is in use.
final class DatabasePages: Sendable {
    private let path: String
    /// Opened at the first use and then kept open: closing it would release SQLite's locks on the file (fcntl(2)).
    private let file = Mutex<ReadableFile?>(nil)

    init(path: String) { self.path = path }

    /// Returns the pages as they are now; `nil` if the file cannot be opened. Use them on the database's queue, while
    /// nothing is written.
    func current() -> PageFile? {
        let file = file.withLock { file in
            if file == nil { file = ReadableFile(path) }
            return file
        }
        return file.map { PageFile($0, log: ReadableFile(path + "-wal")) }
    }
}

/// The pages of an SQLite file, read without SQLite. Pages in the write-ahead log replace older ones in the file.
///
/// SQLite reaches a row through the pages above it, so one damaged page can hide thousands of intact rows. This type
/// reads pages directly. The format: https://sqlite.org/fileformat2.html. Use it from one thread at a time, while
/// nothing writes to the file.
final class PageFile {
    /// Bytes of a page: SQLite's default, which no version of this service has changed. The file's header states it
    /// too, but may be damaged.
    static let pageSize = 4096
    /// The number of the last page; the first page is 1.
    let count: Int
    private let file: ReadableFile
    private let log: ReadableFile?
    private var lastMap: (number: Int, bytes: [UInt8])?
    /// The offset of the newest version of a page in the log.
    private let logged: [Int: Int]

    init(_ file: ReadableFile, log: ReadableFile?) {
        (self.file, self.log) = (file, log)
        let log = log.map(Self.pages) ?? (pages: [:], count: nil)
        logged = log.pages
        count = log.count ?? file.size / Self.pageSize
    }

    /// Returns a page like ``page(_:)``, but caches the last one: consecutive look-ups mostly need the same map page.
    func mapPage(_ number: Int) -> [UInt8]? {
        if lastMap?.number != number { lastMap = page(number).map { (number, $0) } }
        return lastMap?.number == number ? lastMap?.bytes : nil
    }

    /// Returns the bytes of a page; `nil` if the page does not exist or cannot be read.
    func page(_ number: Int) -> [UInt8]? {
        guard number > 0, number <= count else { return nil }
        if let offset = logged[number] { return log?.read(Self.pageSize, at: offset) }
        return file.read(Self.pageSize, at: (number - 1) * Self.pageSize)
    }

    /// Returns the offsets of the committed pages in a log, and the number of pages of the database, which the last
    /// commit frame states.
    ///
    /// A frame is valid if its salts match the header's and its checksum is correct (section 4 of the format).
    private static func pages(of log: ReadableFile) -> (pages: [Int: Int], count: Int?) {
        guard let head = log.read(32, at: 0), let magic = head.bigEndian(4, at: 0),
            magic & ~1 == 0x377F_0682, head.bigEndian(4, at: 8) == UInt32(pageSize)
        else { return ([:], nil) }
        var sum = LogSum(isBigEndian: magic & 1 == 1)
        sum.add(head[..<24])
        var (committed, waiting): ([Int: Int], [Int: Int]) = ([:], [:])
        var count: Int?
        var offset = 32
        while let frame = log.read(24 + pageSize, at: offset), frame[8..<16].elementsEqual(head[16..<24]) {
            sum.add(frame[..<8])
            sum.add(frame[24...])
            guard frame.bigEndian(4, at: 16) == sum.first, frame.bigEndian(4, at: 20) == sum.second else { break }
            waiting[Int(frame.bigEndian(4, at: 0) ?? 0)] = offset + 24
            if let size = frame.bigEndian(4, at: 4), size != 0 {
                count = Int(size)
                committed.merge(waiting) { $1 }
                waiting = [:]
            }
            offset += frame.count
        }
        return (committed, count)
    }
}

/// The checksum of a write-ahead log (section 4.2 of the format).
private struct LogSum {
    let isBigEndian: Bool
    private(set) var first: UInt32 = 0
    private(set) var second: UInt32 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    /// Adds a multiple of 8 bytes.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { bytes in
            for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
                first &+= word(bytes, offset) &+ second
                second &+= word(bytes, offset + 4) &+ first
            }
        }
    }

    private func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
        let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }
}

/// A file with random access for reading. May be used from any thread.
final class ReadableFile: Sendable {
    private let descriptor: CInt

    /// Opens the file at `path`; `nil` if it cannot be opened or is a symbolic link.
    init?(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The size of the file in bytes.
    var size: Int { max(0, lseek(descriptor, 0, SEEK_END)) }

    /// Returns `count` bytes at `offset`; `nil` if there are fewer or they cannot be read.
    func read(_ count: Int, at offset: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return pread(descriptor, &bytes, count, offset) == count ? bytes : nil
    }
}

extension [UInt8] {
    /// Returns the big-endian unsigned number of `width` bytes at `offset`; `nil` beyond the end.
    func bigEndian(_ width: Int, at offset: Int) -> UInt32? {
        guard offset >= 0, offset + width <= count else { return nil }
        return self[offset..<offset + width].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
