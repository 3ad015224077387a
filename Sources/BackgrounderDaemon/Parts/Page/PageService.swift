import ControlServer
import Logging
import ServiceLifecycle

/// Serves the page: on loopback while a session or a code needs it, and at the addresses of `web.listen`.
struct PageService: Service {
    /// The time between two attempts to use an address of `web.listen`, for example that of a network that is not up yet.
    private static let retryInterval = Duration.seconds(60)

    /// How long the server on loopback outlives its last session, so that the page can still be told that the session has ended.
    private static let farewell = Duration.seconds(5)

    let sessions: PageSessions
    let server: PageServer
    let loopback: LoopbackPage
    let network: [PageAddress]
    let clock: any Clock<Duration>
    let logger: Logger

    func run() async throws {
        await withDiscardingTaskGroup { group in
            for address in network { group.addTask { await serve(at: address) } }
            await sessions.start()
            await withGracefulShutdownHandler {
                for await ended in sessions.events where !Task.isShuttingDownGracefully {
                    if !ended.isEmpty { server.close(usedBy: ended) }
                    if await sessions.isNeeded {
                        await startOnLoopback()
                    } else {
                        group.addTask { await stopLater() }
                    }
                }
            } onGracefulShutdown: { [sessions] in
                sessions.endEvents()
            }
            await loopback.stop()
        }
    }

    private func stopLater() async {
        try? await cancelWhenGracefulShutdown { try await clock.sleep(for: Self.farewell) }
        if await !sessions.isNeeded { await loopback.stop() }
    }

    /// Starts the server on loopback unless it runs, or no page was ever opened.
    private func startOnLoopback() async {
        guard await loopback.isStopped, let port = await sessions.port else { return }
        do {
            _ = try await loopback.start(port: port)
        } catch {
            logger.error("Cannot serve the page on 127.0.0.1:\(port): \(error)")
        }
    }

    private func serve(at address: PageAddress) async {
        while !Task.isCancelled {
            do {
                return try await server.run(at: address) { _ in
                    logger.notice("The page is served at \(address)")
                }
            } catch {
                logger.error("Cannot serve the page at \(address): \(error); trying again each minute")
            }
            do {
                try await cancelWhenGracefulShutdown { try await clock.sleep(for: Self.retryInterval) }
            } catch {
                return
            }
        }
    }
}
