package import BackgrounderAPI
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import ServiceLifecycle
import SystemSupport

/// A registry of attached readers.
package protocol Attachments: Sendable {
    /// Registers an attached client and returns its id.
    func attached() async -> Int
    /// Reports that a client stopped reading or reads again.
    func stalled(_ id: Int, _ isStalled: Bool) async
    /// Removes a client.
    func detached(_ id: Int) async
}

extension ControlRouter {
    /// Serves `/v1/events` from `hub`.
    ///
    /// - Parameters:
    ///   - readerTimes: the time limits of attached readers.
    ///   - defaultInterval: the interval of `time` events without `observe`.
    ///   - times: returns the position in the current item, at the given interval.
    package mutating func serveEvents(
        from hub: EventHub,
        attachments: any Attachments,
        readerTimes: ReaderTimes = ReaderTimes(),
        defaultInterval: @escaping @Sendable () async -> Duration,
        times: @escaping @Sendable (Duration) async -> AsyncStream<PlayerTime>
    ) {
        on(.get, Routes.eventsPath, access: .read, query: ["attach", "observe"]) { request, context in
            let query = request.uri.queryParameters
            let attach = query["attach"].map(String.init) ?? "0"
            guard attach == "0" || attach == "1" else {
                throw WireError(.invalid, "attach=\(attach) is not valid", hint: "use 0 or 1")
            }
            var interval = await defaultInterval()
            if let text = query["observe"] {
                guard let given = Durations.duration(text), (.milliseconds(10)...(.seconds(60))).contains(given) else {
                    throw WireError(.invalid, "observe=\(text) is out of range", hint: "use 10ms to 60s")
                }
                interval = given
            }
            if attach == "1", !context.caller.isRemote, BrowserGuard.isFromBrowser(request) {
                throw WireError(
                    .forbidden,
                    "a browser must not attach",
                    hint: "a page can make a browser send a GET; read without attach=1, or attach from a program"
                )
            }
            let place = try hub.reservePlace(for: context.caller)
            let (channel, isRemote) = (context.channel, context.caller.isRemote)
            let body = ResponseBody { [interval] writer in
                let reader = EventReader {
                    hub.share
                } onOverflow: {
                    channel.close(promise: nil)
                }
                channel.closeFuture.whenComplete { _ in reader.finish() }
                let id = attach == "1" ? await attachments.attached() : nil
                hub.add(reader)
                do {
                    reader.begin(with: await hub.snapshot(), encoded: EventHub.encode)
                    let observer = Task { await reader.observe { await times(interval) } }
                    defer { observer.cancel() }
                    let watch = StallWatch(
                        channel: channel,
                        reader: reader,
                        times: readerTimes,
                        isKeptAlive: id != nil || isRemote,
                        attachment: id
                    ) {
                        await attachments.stalled($0, $1)
                    }
                    defer { watch.stop() }
                    try await withGracefulShutdownHandler {
                        for await _ in reader.signals {
                            try await writer.write(reader.take())
                            reader.sent()
                            watch.wrote()
                        }
                    } onGracefulShutdown: {
                        reader.finish()
                    }
                } catch {
                    // The client disconnected.
                }
                hub.remove(reader)
                if let id { await attachments.detached(id) }
                withExtendedLifetime(place) {}
                try await writer.finish(nil)
            }
            return Response(
                status: .ok,
                headers: [.contentType: "text/event-stream", .cacheControl: "no-cache"],
                body: body
            )
        }
    }
}
