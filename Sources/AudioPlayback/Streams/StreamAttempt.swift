import AsyncHTTPClient
import BackgrounderAPI
import NIOCore
import NIOHTTP1
import WebSupport

/// One connection of a ``WebStream``, with its redirects, from the request to the last byte.
struct StreamAttempt {
    enum Outcome {
        case cancelled
        /// The file is complete.
        case ended
        /// Another attempt would not help.
        case failed(String)
        /// The link broke. `hadReply`: the server had begun to reply.
        case broken(String, hadReply: Bool)
    }

    private let stream: WebStream
    private let epoch: Int
    private let offset: Int

    init(_ stream: WebStream, _ epoch: Int, from offset: Int) {
        (self.stream, self.epoch, self.offset) = (stream, epoch, offset)
    }

    func run() async -> Outcome {
        stream.expect(within: stream.web.limits.reply, epoch)
        return await withTaskGroup(of: Outcome.self) { group in
            group.addTask { await transfer() }
            group.addTask { await watch() }
            let first = await group.next() ?? .cancelled
            group.cancelAll()
            return Task.isCancelled ? .cancelled : first
        }
    }

    /// Returns when the network has been silent for too long.
    private func watch() async -> Outcome {
        while true {
            let patience = stream.patience(epoch)
            if let patience, patience <= .zero { break }
            // A reply that begins shortens the wait.
            let limit = stream.web.limits.stall
            guard (try? await stream.web.clock.sleep(for: min(patience ?? limit, limit))) != nil else {
                return .cancelled
            }
        }
        return .broken("no data from \(host)", hadReply: false)
    }

    private var host: String {
        (try? WebURL(stream.address)).map { "\($0.origin.host):\($0.origin.port)" } ?? stream.address
    }

    private func transfer() async -> Outcome {
        var server = host
        var hadReply = false
        do {
            var route = try WebRoute(to: WebURL(stream.address), stream.web.policy, nil)
            while true {
                server = "\(route.url.origin.host):\(route.url.origin.port)"
                stream.show("connecting to \(server)", epoch)
                let (response, peer) = try await stream.web.clients.execute(
                    request(to: route.url),
                    route.url,
                    mayBeLocal: route.mayBeLocal
                )
                if RedirectPolicy.isRedirect(status: response.status.code) {
                    try route.follow(response.headers.first(name: "Location"), from: peer)
                    continue
                }
                let reply = try StreamReply(
                    status: Int(response.status.code),
                    response.headers,
                    offset: offset,
                    known: offset > 0 ? stream.version : nil
                )
                hadReply = true
                stream.begin(reply, epoch)
                stream.show("waiting for data from \(server)", epoch)
                return try await receive(response.body, reply, server)
            }
        } catch let error as WebURLError {
            return .failed(error.description)
        } catch let error as RedirectError {
            return .failed(error.description)
        } catch let refusal as StreamReply.Refusal {
            switch refusal {
            case .forGood(let reason): return .failed(reason)
            case .forNow(let reason): return .broken(reason, hadReply: false)
            }
        } catch is LocalAddressError {
            return .failed(LocalAddressError.reason(server))
        } catch {
            let problem = ConnectionProblem(error, to: server)
            switch problem.kind {
            case .cancelled: return .cancelled
            case .invalid where !hadReply: return .failed(problem.reason)
            case .insecure: return .failed(problem.reason)
            case .offline, .unreachable, .broken, .invalid: return .broken(problem.reason, hadReply: hadReply)
            }
        }
    }

    private func request(to url: WebURL) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url.description)
        request.headers = [
            "User-Agent": "Backgrounder/\(Backgrounder.version)", "Accept": "audio/mpeg, */*;q=0.5",
            "Icy-MetaData": "1",
        ]
        if offset > 0 {
            request.headers.add(name: "Range", value: "bytes=\(offset)-")
            if let validator = stream.version?.validator { request.headers.add(name: "If-Range", value: validator) }
        }
        return request
    }

    private func receive(
        _ body: HTTPClientResponse.Body,
        _ reply: StreamReply,
        _ server: String
    ) async throws -> Outcome {
        var metadata = reply.metadataInterval.map { IcyMetadata(interval: $0) }
        var surplus = reply.surplus
        stream.expect(within: stream.web.limits.stall, epoch)
        for try await var piece in body {
            var bytes = piece.readBytes(length: piece.readableBytes) ?? []
            if surplus > 0 {
                let dropped = min(surplus, bytes.count)
                bytes.removeFirst(dropped)
                surplus -= dropped
            }
            let pieces = metadata?.split(bytes) ?? [.sound(bytes)]
            guard await stream.append(pieces, epoch) else { return .cancelled }
            stream.expect(within: stream.web.limits.stall, epoch)
        }
        if Task.isCancelled { return .cancelled }
        return reply.isLive ? .broken("\(server) closed the connection", hadReply: true) : .ended
    }
}
