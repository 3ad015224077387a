import Glibc
import Synchronization

/// The pages of the database that is in use.
final class DatabasePages: Sendable {
    private let path: String
    /// Opened at the first use and then kept: closing it would drop the locks that SQLite has of the file (fcntl(2)).
    private let file = Mutex<ReadableFile?>(nil)

    init(path: String) { self.path = path }

    /// The pages as they are now. To be used in the database's queue, while nothing is written.
    ///
    /// - Returns: `nil` where the file cannot be opened.
    func current() -> PageFile? {
        let file = file.withLock { file in
            if file == nil { file = ReadableFile(path) }
            return file
        }
        return file.map { PageFile($0, log: ReadableFile(path + "-wal")) }
    }
}

/// The pages of an SQLite file, read without SQLite, with those of its write-ahead log in the place of older ones.
///
/// SQLite finds a row by the pages above it, so that one damaged page can hide thousands of good ones. This finds them.
/// The format: https://sqlite.org/fileformat2.html. To be used by one thread at a time, while nothing writes to the file.
final class PageFile {
    /// Bytes of a page: SQLite's own default, which no version of this service changed. The head of the file, which says it too, may be
    /// damaged.
    static let pageSize = 4096
    /// The number of the last page; the first is 1.
    let count: Int
    private let file: ReadableFile
    private let log: ReadableFile?
    private var lastMap: (number: Int, bytes: [UInt8])?
    /// Where the newest version of a page is in the log.
    private let logged: [Int: Int]

    init(_ file: ReadableFile, log: ReadableFile?) {
        (self.file, self.log) = (file, log)
        let log = log.map(Self.pages) ?? (pages: [:], count: nil)
        logged = log.pages
        count = log.count ?? file.size / Self.pageSize
    }

    /// Like ``page(_:)``, but keeps the last page that was read: each page of a tree is looked up in the same map page.
    func mapPage(_ number: Int) -> [UInt8]? {
        if lastMap?.number != number { lastMap = page(number).map { (number, $0) } }
        return lastMap?.number == number ? lastMap?.bytes : nil
    }

    /// - Returns: `nil` where there is no such page, or it cannot be read.
    func page(_ number: Int) -> [UInt8]? {
        guard number > 0, number <= count else { return nil }
        if let offset = logged[number] { return log?.read(Self.pageSize, at: offset) }
        return file.read(Self.pageSize, at: (number - 1) * Self.pageSize)
    }

    /// The committed frames of a log (section 4 of the format): their salts are those of its head, and their sums are right. The last
    /// of them tells how many pages the database has.
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

/// A file that is read at any place. From any thread.
final class ReadableFile: Sendable {
    private let descriptor: CInt

    /// - Returns: `nil` where `path` cannot be opened, or is a symbolic link.
    init?(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Bytes.
    var size: Int { max(0, lseek(descriptor, 0, SEEK_END)) }

    /// - Returns: `nil` where there are fewer bytes, or they cannot be read.
    func read(_ count: Int, at offset: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return pread(descriptor, &bytes, count, offset) == count ? bytes : nil
    }
}

extension [UInt8] {
    /// The unsigned number of `width` bytes; `nil` beyond the end.
    func bigEndian(_ width: Int, at offset: Int) -> UInt32? {
        guard offset >= 0, offset + width <= count else { return nil }
        return self[offset..<offset + width].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
