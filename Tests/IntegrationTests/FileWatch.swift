import Foundation
import TestSupport

/// A watch for text in a file that another process writes (inotify(7)).
struct FileWatch {
    private let path: String

    init(_ path: String) { self.path = path }

    /// Returns when the file contains `words`.
    func wait(for words: String, within seconds: Double = 60) async throws {
        let watch = inotify_init1(Int32(IN_CLOEXEC))
        guard watch >= 0 else { throw SystemCallFailure("inotify_init1") }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        inotify_add_watch(watch, folder, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO))
        let changed = Signal()
        let source = DispatchSource.makeReadSource(fileDescriptor: watch, queue: .global())
        source.setEventHandler {
            var events = [UInt8](repeating: 0, count: 1 << 16)
            _ = read(watch, &events, events.count)
            changed.post()
        }
        source.setCancelHandler { close(watch) }
        source.resume()
        defer { source.cancel() }
        _ = try await changed.wait(for: "\(words.debugDescription) in \(path)", within: seconds) {
            let content = FileManager.default.contents(atPath: path) ?? Data()
            return String(decoding: content, as: UTF8.self).contains(words) ? true : nil
        }
    }
}
