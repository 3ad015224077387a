import CMPG123
import Glibc

extension MediaWindow {
    /// Makes libmpg123 read this window, which must outlive the handle. Returns whether that worked.
    func isOpened(by handle: OpaquePointer) -> Bool {
        cmpg123_open(
            handle,
            pointer,
            { user, memory, count in
                guard let window = MediaWindow.behind(user), let memory else { return -1 }
                return window.read(into: memory, count: count)
            },
            { user, offset, whence in off_t(MediaWindow.behind(user)?.seek(Int(offset), whence) ?? -1) }
        ) == 0
    }
}
