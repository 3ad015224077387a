import AsyncHTTPClient
import BackgrounderAPI
package import FoundationEssentials
import NIOCore
import NIOHTTP1
import SystemSupport
package import WebSupport

/// Fetches over HTTP, with conditional requests and limits for the reply. It follows redirects itself.
package struct WebOrigin: Sendable {
    private let clients: WebClients
    private let now: @Sendable () -> Date
    private let policy: @Sendable () async -> RedirectPolicy

    /// Creates an origin that sends its requests with `clients`.
    ///
    /// - Parameters:
    ///   - policy: the servers that a fetch may contact, asked at its beginning.
    ///   - now: the current time, to interpret dates in replies.
    package init(
        clients: WebClients,
        policy: @escaping @Sendable () async -> RedirectPolicy,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (self.clients, self.policy, self.now) = (clients, policy, now)
    }

    /// Fetches `address`, following redirects. A request to the URL of `validators` asks only for changes.
    func fetch(
        _ source: FetchDefinition,
        _ address: String,
        validators: FetchValidators?
    ) async throws(FetchFailure) -> FetchReply {
        var server = "the server"
        do {
            let credentials: WebCredentials? =
                if let path = source.credentials { try await .read(path) } else { nil }
            let policy = await policy().forFetch(hasCredentials: credentials != nil)
            var route = try WebRoute(to: WebURL(address), policy, credentials)
            while true {
                server = "\(route.url.origin.host):\(route.url.origin.port)"
                let (response, peer) = try await clients.execute(
                    request(source, route, validators),
                    route.url,
                    mayBeLocal: route.mayBeLocal
                )
                guard RedirectPolicy.isRedirect(status: response.status.code) else {
                    var reply = try await reply(response, from: route.url)
                    reply.scope = peer
                    return reply
                }
                try route.follow(response.headers.first(name: "Location"), from: peer)
            }
        } catch let failure as FetchFailure {
            throw failure
        } catch let error as WebURLError {
            throw FetchFailure(error.description)
        } catch is LocalAddressError {
            throw FetchFailure(LocalAddressError.reason(server))
        } catch let error as CredentialsError {
            throw FetchFailure(error.description)
        } catch let error as RedirectError {
            throw FetchFailure(error.description)
        } catch {
            throw FetchFailure(connecting: error, to: server)
        }
    }

    private func request(
        _ source: FetchDefinition,
        _ route: WebRoute,
        _ validators: FetchValidators?
    ) -> HTTPClientRequest {
        let url = route.url
        var request = HTTPClientRequest(url: url.description)
        request.headers = [
            "User-Agent": "Backgrounder/\(Backgrounder.version)",
            "Accept-Encoding": "gzip",
        ]
        switch source.kind {
        case .feed:
            request.headers.add(
                name: "Accept",
                value:
                    "application/feed+json, application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.8"
            )
        case .raw: request.headers.add(name: "Accept", value: "*/*")
        }
        // Validators apply only to their own URL.
        if let validators, validators.url == url.description {
            if let tag = validators.entityTag { request.headers.add(name: "If-None-Match", value: tag) }
            if let date = validators.lastModified { request.headers.add(name: "If-Modified-Since", value: date) }
        }
        for field in route.fields { request.headers.add(name: field.name, value: field.value) }
        return request
    }

    /// Reads a response that is not a redirect.
    private func reply(_ response: HTTPClientResponse, from url: WebURL) async throws -> FetchReply {
        let (status, headers) = (Int(response.status.code), response.headers)
        let validators = FetchValidators(
            url: url.description,
            entityTag: Self.asSent(headers.first(name: "ETag")),
            lastModified: Self.asSent(headers.first(name: "Last-Modified"))
        )
        let freshness = CacheControl(headers["Cache-Control"]).freshness(
            age: headers.first(name: "Age"),
            expires: headers.first(name: "Expires"),
            date: headers.first(name: "Date"),
            now: now()
        )
        switch status {
        case 304:
            let news = validators.isEmpty ? nil : validators
            return FetchReply(.unchanged, status: status, validators: news, freshness: freshness?.seconds)
        case 200...299:
            let body = try await Body(response)
            return FetchReply(
                .content(body.content, mediaType: headers.first(name: "Content-Type")),
                status: status,
                bytes: body.wireBytes,
                validators: validators,
                freshness: freshness?.seconds
            )
        default:
            throw FetchFailure(
                Self.reason(status),
                kind: status == 410 ? .gone : .refused,
                status: status,
                retryAfter: headers.first(name: "Retry-After")
                    .flatMap { RetryAfter.duration($0, now: now()) }?.seconds
            )
        }
    }

    /// Returns a validator unless it cannot be sent back byte for byte, or is too long.
    private static func asSent(_ value: String?) -> String? {
        guard let value, !value.isEmpty, value.utf8.count <= 1024 else { return nil }
        return value.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "\u{FFFD}" }
            ? value : nil
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 401, 403: "the server denied access (\(status))"
        case 404: "the server has nothing at this URL (404)"
        case 410: "the server says it is gone for good (410)"
        case 429: "the server received too many requests (429)"
        case 500...599: "the server failed (\(status))"
        default: "the server answered with status \(status)"
        }
    }
}

extension FetchValidators {
    fileprivate var isEmpty: Bool { entityTag == nil && lastModified == nil }
}

/// The body of a response, decompressed and within the limits.
private struct Body {
    var content: Data
    /// Bytes as received.
    var wireBytes: Int

    /// Reads and decompresses the body of `response`.
    init(_ response: HTTPClientResponse) async throws {
        let wireLimit = FetchLimits.wireLimit
        let tooLarge = FetchFailure(
            "the reply is larger than \(wireLimit >> 20) MiB",
            status: Int(response.status.code)
        )
        if let length = response.headers.first(name: "Content-Length").flatMap({ Int($0) }), length > wireLimit {
            throw tooLarge
        }
        var packed: [UInt8] = []
        for try await var piece in response.body {
            packed += piece.readBytes(length: piece.readableBytes) ?? []
            guard packed.count <= wireLimit else { throw tooLarge }
        }
        wireBytes = packed.count
        let codings = response.headers["Content-Encoding"].flatMap { $0.split(separator: ",") }
            .map { $0.split(separator: " ").joined().lowercased() }.filter { $0 != "identity" && !$0.isEmpty }
        switch codings {
        case []: content = Data(packed)
        case ["gzip"], ["x-gzip"], ["deflate"]:
            // Some servers declare a content coding even if the body is empty.
            guard !packed.isEmpty else {
                content = Data()
                return
            }
            content = try await QueueExecutor.content.run { [packed] () throws(FetchFailure) in try unpack(packed) }
        default:
            throw FetchFailure(
                "the reply has a content coding that was not requested: \(codings.joined(separator: ", "))"
            )
        }
    }
}

/// Returns the decompressed data. Blocks the calling thread.
private func unpack(_ packed: [UInt8]) throws(FetchFailure) -> Data {
    let limit = FetchLimits.contentLimit
    guard var inflation = Inflation(limit: limit) else { throw FetchFailure("no memory left to decompress the reply") }
    do throws(Inflation.Fault) {
        try inflation.decompress(packed)
    } catch {
        switch error {
        case .tooLarge:
            throw FetchFailure("the decompressed reply is larger than \(limit >> 20) MiB", bytes: packed.count)
        case .damaged: throw FetchFailure("the compressed reply is damaged", bytes: packed.count)
        }
    }
    guard inflation.isWhole else { throw FetchFailure("the compressed reply is truncated", bytes: packed.count) }
    return Data(inflation.bytes)
}
