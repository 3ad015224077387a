import Foundation
import Testing

/// A FIFO that a player writes to. The player is only as fast as the reader, so a test controls its position.
final class SlowListener: Sendable {
    let path: String

    init(_ path: String) throws {
        self.path = path
        try #require(mkfifo(path, 0o600) == 0)
    }

    /// Opens the FIFO when the player does.
    func listen() async throws -> Ear {
        let path = path
        let descriptor = await Self.onThread { open(path, O_RDONLY | O_CLOEXEC) }
        return Ear(descriptor: try #require(descriptor >= 0 ? descriptor : nil))
    }

    /// The reader of the sound from one opening of the device.
    final class Ear: Sendable {
        fileprivate let descriptor: CInt

        fileprivate init(descriptor: CInt) { self.descriptor = descriptor }

        deinit { close(descriptor) }

        /// Returns the next `count` samples, or fewer if the player closes the device.
        func read(_ count: Int) async -> [Int16] {
            let descriptor = descriptor
            return await SlowListener.onThread {
                var samples = [Int16](repeating: 0, count: count)
                let filled = samples.withUnsafeMutableBytes { bytes in
                    var filled = 0
                    while filled < bytes.count {
                        let got = Glibc.read(descriptor, bytes.baseAddress! + filled, bytes.count - filled)
                        guard got > 0 else { break }
                        filled += got
                    }
                    return filled
                }
                return Array(samples.prefix(filled / 2))
            }
        }

        /// Returns all samples until the player closes the device.
        func rest() async -> [Int16] {
            var all: [Int16] = []
            while true {
                let more = await read(1 << 16)
                all += more
                if more.count < 1 << 16 { return all }
            }
        }
    }

    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
