import Glibc
import Synchronization
import SystemSupport

/// Records gpsd's lines to a file.
///
/// Each write goes to the kernel immediately, so it survives the end of this process; the file always ends with a whole line. The
/// recording ends by itself, and reports why, before it can fill the disk. Any thread; blocks on the file.
package final class GPSDRecorder: Sendable {
    /// Why a recording ended before its source.
    package enum Ending: Hashable, Sendable {
        case full(limit: Int)
        /// Less than ``leastFreeSpace`` of the file system is free.
        case lowSpace
        /// Writing failed with this `errno`.
        case failed(Int32)
    }

    private struct State {
        var descriptor: Int32
        var buffer: [UInt8] = []
        var written = 0
        /// Bytes after which the free space is checked again.
        var nextCheck = 0
        var isOver = false
    }

    private let limit: Int
    private let hasSpace: @Sendable (Int32) -> Bool
    private let onEnd: @Sendable (Ending) -> Void
    private let state: Mutex<State>

    /// Creates the file at `path`, which must not exist.
    ///
    /// - Parameters:
    ///   - limit: bytes (default 1 GiB).
    ///   - hasSpace: whether the file system of a descriptor has space left (default: by its free blocks).
    ///   - onEnd: called at most once, when the recording ends by itself.
    /// - Throws: ``RecordingError`` if the file cannot be created.
    package init(
        path: String,
        limit: Int? = nil,
        hasSpace: (@Sendable (Int32) -> Bool)? = nil,
        onEnd: @escaping @Sendable (Ending) -> Void
    ) throws(RecordingError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard descriptor >= 0 else { throw RecordingError(path: path, code: errno) }
        self.limit = limit ?? Self.recordingLimit
        self.hasSpace = hasSpace ?? Self.hasSpace
        self.onEnd = onEnd
        state = Mutex(State(descriptor: descriptor))
    }

    deinit { _ = state.withLock { $0.isOver ? 0 : close($0.descriptor) } }

    /// Buffers a line, without its end.
    func append(_ line: UnsafeMutableBufferPointer<CChar>) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.buffer.append(contentsOf: UnsafeRawBufferPointer(line))
            state.buffer.append(UInt8(ascii: "\n"))
        }
    }

    /// Writes the buffered lines.
    func flush() {
        guard let ending = state.withLock({ $0.isOver || $0.buffer.isEmpty ? nil : write(&$0) }) else { return }
        onEnd(ending)
    }

    /// Bytes.
    private static let recordingLimit = 1 << 30
    /// The part of the file system that a recording leaves free.
    private static let leastFreeSpace = 0.05
    /// Bytes after which the free space is checked again.
    private static let spaceCheckInterval = 1 << 20

    private func write(_ state: inout State) -> Ending? {
        defer { state.buffer.removeAll(keepingCapacity: true) }
        if state.written + state.buffer.count > limit { return end(&state, .full(limit: limit)) }
        if state.written >= state.nextCheck {
            guard hasSpace(state.descriptor) else { return end(&state, .lowSpace) }
            state.nextCheck = state.written + Self.spaceCheckInterval
        }
        var remainder = state.buffer[...]
        while !remainder.isEmpty {
            let count = remainder.withUnsafeBytes { Glibc.write(state.descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = errno
                // Remove the partial line.
                ftruncate(state.descriptor, off_t(state.written))
                return end(&state, .failed(code))
            }
            remainder = remainder.dropFirst(count)
        }
        state.written += state.buffer.count
        return nil
    }

    private func end(_ state: inout State, _ ending: Ending) -> Ending {
        state.isOver = true
        close(state.descriptor)
        return ending
    }

    private static func hasSpace(_ descriptor: Int32) -> Bool {
        var system = statvfs()
        guard fstatvfs(descriptor, &system) == 0, system.f_blocks > 0 else { return true }
        return Double(system.f_bavail) >= Self.leastFreeSpace * Double(system.f_blocks)
    }

    /// Returns one line for display.
    package static func describe(_ ending: Ending, path: String) -> String {
        let reason =
            switch ending {
            case .full(let limit): "it reached its limit of \(limit) bytes"
            case .lowSpace: "less than \(Int(Self.leastFreeSpace * 100)) % of the disk is free"
            case .failed(let code): systemMessage(code)
            }
        return "The recording \(path) ended: \(reason); tracking continues"
    }
}

/// The error for a recording that cannot begin; `code` is an `errno`.
package struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    package var path: String
    package var code: Int32

    package var description: String {
        code == EEXIST
            ? "\(path) already exists; remove it, or record to another file"
            : "cannot record to \(path): \(systemMessage(code))"
    }
}
