import CLinux
import Glibc

/// Whether the default routes have changed, for a thread that polls: from kernel events, without a thread of its own.
///
///     let routes = RouteWait(since: DefaultRoutes())
///     while !routes.haveChanged { … poll routes.descriptor … }
package final class RouteWait {
    private let before: DefaultRoutes
    private var mayHaveChanged = true
    /// Readable after each change of the network; -1, which poll(2) ignores, if the kernel refuses it.
    package let descriptor: CInt

    /// Begins to wait.
    ///
    /// - Parameter before: the routes from which a change is wanted.
    package init(since before: DefaultRoutes) {
        self.before = before
        descriptor = clinux_route_changes()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Notes that the descriptor is readable.
    package func read() {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        // ENOBUFS means that messages were lost; others can still be read.
        while recv(descriptor, &bytes, bytes.count, 0) > 0 || errno == ENOBUFS || errno == EINTR {}
        mayHaveChanged = true
    }

    /// Whether the default routes differ from those at the beginning.
    package var haveChanged: Bool {
        guard mayHaveChanged else { return false }
        mayHaveChanged = false
        return DefaultRoutes() != before
    }
}
