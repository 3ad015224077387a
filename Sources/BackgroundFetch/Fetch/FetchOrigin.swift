package import BackgrounderAPI
package import FoundationEssentials
import SystemSupport
package import WebSupport

/// A place from which content is fetched: the web or a command.
package protocol FetchOrigin: Sendable {
    /// Fetches the content of `source`. If the task is cancelled, this ends soon, and nothing that it started
    /// continues.
    ///
    /// - Parameter validators: those of the stored content, to ask only for changes.
    func fetch(_ source: FetchDefinition, validators: FetchValidators?) async throws(FetchFailure) -> FetchReply
}

/// The reply of a source.
package struct FetchReply: Sendable {
    /// The content in a reply.
    package enum Body: Sendable {
        case content(Data, mediaType: String?)
        /// The server or the command reports that nothing changed.
        case unchanged
    }

    package var body: Body
    /// The HTTP status, or the exit status of the command.
    package var status: Int
    /// Bytes of the body as received, before decompression.
    package var bytes: Int
    package var validators: FetchValidators?
    /// Seconds for which the content stays fresh, as the server stated.
    package var freshness: Double?
    /// Whether the content is new even if it equals the stored content. A command states this with exit status 0.
    package var isSurelyNew: Bool
    /// The scope of the address of the server. URLs from a local server may be local too. A command counts as local.
    package var scope: AddressScope

    /// Creates a reply from a server on the Internet, unless `scope` states another one.
    package init(
        _ body: Body,
        status: Int,
        bytes: Int = 0,
        validators: FetchValidators? = nil,
        freshness: Double? = nil,
        isSurelyNew: Bool = false,
        scope: AddressScope = .global
    ) {
        self.body = body
        self.status = status
        self.bytes = bytes
        self.validators = validators
        self.freshness = freshness
        self.isSurelyNew = isSurelyNew
        self.scope = scope
    }
}

/// The reason why a fetch failed.
package struct FetchFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of a failure, which decides about the next attempt.
    package enum Kind: Hashable, Sendable {
        /// A failure of the server, the command or the content.
        case refused
        /// The network is down. This does not count as a failure of the source, and the source does not back off.
        case offline
        /// The server answered with status 410: the content is gone for good.
        case gone
        /// The run exceeded its budget.
        case late
        /// The run was cancelled, because the service stops or the source was removed.
        case cancelled
    }

    package var kind: Kind
    /// The message: the failure and its cause, as one line.
    package var reason: String
    /// The HTTP status, or the exit status of the command.
    package var status: Int?
    /// Bytes of the body that were received.
    package var bytes: Int?
    /// Seconds for which the server asks not to be contacted again.
    package var retryAfter: Double?

    /// Creates a failure. Replaces control characters in `reason`, and truncates it to ``FetchLimits/reasonLength``.
    package init(
        _ reason: String,
        kind: Kind = .refused,
        status: Int? = nil,
        bytes: Int? = nil,
        retryAfter: Double? = nil
    ) {
        let line = reason.withoutControlCharacters
        self.reason = line.count > FetchLimits.reasonLength ? line.prefix(FetchLimits.reasonLength) + "…" : line
        self.kind = kind
        self.status = status
        self.bytes = bytes
        self.retryAfter = retryAfter
    }

    package var description: String { reason }
}
