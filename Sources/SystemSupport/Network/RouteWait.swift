import CLinux
import Glibc

/// Whether the default routes have changed, for a thread that polls: from kernel events, without a thread of its own.
///
///     let wait = RouteWait()
///     while !wait.haveChanged { … poll wait.descriptor … }
package final class RouteWait {
    /// The routes when they were read last.
    package private(set) var routes: DefaultRoutes
    private var mayHaveChanged: Bool
    /// Readable after each change of the network; -1, which poll(2) ignores, if the kernel refuses it.
    package let descriptor: CInt

    /// Begins to wait.
    ///
    /// - Parameter before: the routes from which a change is wanted; `nil` for those of now.
    package init(since before: DefaultRoutes? = nil) {
        descriptor = clinux_route_changes()
        mayHaveChanged = before != nil
        routes = before ?? DefaultRoutes()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Notes that the descriptor is readable.
    package func read() {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        // ENOBUFS means that messages were lost; others can still be read.
        while recv(descriptor, &bytes, bytes.count, 0) > 0 || errno == ENOBUFS || errno == EINTR {}
        mayHaveChanged = true
    }

    /// Whether the default routes differ from ``routes``, which are then the new ones.
    package var haveChanged: Bool {
        guard mayHaveChanged else { return false }
        mayHaveChanged = false
        let before = routes
        routes = DefaultRoutes()
        return routes != before
    }
}
