import BackgrounderAPI
import Glibc
import Synchronization
import SystemSupport

/// The player's position in the current item, in a separate file beside the database: 32 bytes that are overwritten
/// twice a second, at a fiftieth of the cost of a commit.
///
/// A written position survives the end of this process. After a power cut it may be lost, outdated or incomplete; the
/// checksum detects an incomplete one. Writes may come from any thread; do not read meanwhile.
final class PositionFile: Sendable {
    let path: String
    private let descriptor: CInt
    /// The position of the last write, if that failed.
    private let unwritten = Mutex<PlayerPosition?>(nil)

    /// Generation, item, seconds and their checksum, in the machine's byte order, because the file never leaves the
    /// machine.
    private typealias Record = (Int64, Int64, UInt64, UInt64)

    init(path: String) throws(StateStoreError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .failed(path: path, reason: systemMessage(errno), code: errno) }
        self.path = path
    }

    deinit { close(descriptor) }

    func write(_ position: PlayerPosition) throws(StateStoreError) {
        try unwritten.withLock { unwritten throws(StateStoreError) in
            unwritten = position
            try overwrite(with: position)
            unwritten = nil
        }
    }

    /// Repeats the last write if it failed.
    func retry() throws(StateStoreError) {
        try unwritten.withLock { unwritten throws(StateStoreError) in
            guard let position = unwritten else { return }
            try overwrite(with: position)
            unwritten = nil
        }
    }

    private func overwrite(with position: PlayerPosition) throws(StateStoreError) {
        let seconds = position.elapsed.bitPattern
        let (generation, item) = (Int64(position.generation), Int64(position.itemID))
        let record: Record = (generation, item, seconds, Self.checksum(generation, item, seconds))
        let count = withUnsafeBytes(of: record) { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        guard count == MemoryLayout<Record>.size else {
            let code = count < 0 ? errno : ENOSPC
            throw .failed(path: path, reason: systemMessage(code), code: code)
        }
    }

    /// Returns the written position; `nil` if there is none or the checksum is wrong.
    func read() -> PlayerPosition? {
        var record: Record = (0, 0, 0, 0)
        let count = withUnsafeMutableBytes(of: &record) { pread(descriptor, $0.baseAddress, $0.count, 0) }
        let (generation, item, seconds, checksum) = record
        guard count == MemoryLayout<Record>.size, checksum == Self.checksum(generation, item, seconds) else {
            return nil
        }
        return PlayerPosition(generation: Int(generation), itemID: Int(item), elapsed: Double(bitPattern: seconds))
    }

    /// Returns an FNV-1a hash over 64-bit words in place of bytes; it is not 0 for three zeros, so an empty record is
    /// invalid.
    private static func checksum(_ generation: Int64, _ item: Int64, _ seconds: UInt64) -> UInt64 {
        [UInt64(bitPattern: generation), UInt64(bitPattern: item), seconds].reduce(0xCBF2_9CE4_8422_2325) {
            ($0 ^ $1) &* 0x0000_0100_0000_01B3
        }
    }
}
