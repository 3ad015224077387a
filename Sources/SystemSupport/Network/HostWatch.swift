import CLinux
import Dispatch
import Glibc
import Synchronization

/// Reports changes of the default routes and of the power supplies, from kernel events and without polling.
///
/// It stops when it is released.
package final class HostWatch: Sendable {
    private let queue = DispatchQueue(label: "backgrounder.host")
    private let sources: Mutex<[any DispatchSourceRead]>

    /// Starts watching. The closures are called on a private serial queue, which they may block briefly.
    ///
    /// - Parameter onPower: `nil` to watch only the routes.
    package init(onRoutes: @escaping @Sendable () -> Void, onPower: (@Sendable () -> Void)? = nil) {
        var sources: [any DispatchSourceRead] = []
        let queue = queue
        func watch(_ descriptor: Int32, _ changed: @escaping @Sendable ([UInt8]) -> Void) {
            guard descriptor >= 0 else { return }
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler {
                var bytes = [UInt8](repeating: 0, count: 1 << 16)
                var received: [UInt8] = []
                while true {
                    let count = recv(descriptor, &bytes, bytes.count, 0)
                    // ENOBUFS means that messages were lost; others can still be read.
                    if count < 0, errno == ENOBUFS || errno == EINTR { continue }
                    guard count > 0 else { break }
                    if received.count < 1 << 18 { received += bytes[..<count] }
                }
                changed(received)
            }
            source.setCancelHandler { close(descriptor) }
            source.activate()
            sources.append(source)
        }
        let ways = Mutex(DefaultRoutes())
        watch(clinux_route_changes()) { _ in
            // Routers repeat their announcements every few minutes.
            let now = DefaultRoutes()
            let isNew = ways.withLock { ways in
                defer { ways = now }
                return ways != now
            }
            if isNew { onRoutes() }
        }
        if let onPower {
            watch(clinux_device_changes()) { message in
                if message.firstRange(of: Array("SUBSYSTEM=power_supply".utf8)) != nil { onPower() }
            }
        }
        self.sources = Mutex(sources)
    }

    deinit { for source in sources.withLock({ $0 }) { source.cancel() } }
}
