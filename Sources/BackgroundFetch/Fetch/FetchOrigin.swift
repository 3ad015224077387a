package import BackgrounderAPI
package import FoundationEssentials

/// Where content comes from: the web or a command.
package protocol FetchOrigin: Sendable {
    /// Ends soon after its task was cancelled, and leaves nothing behind.
    func fetch(_ source: FetchDefinition, validators: FetchValidators?) async throws(FetchFailure) -> FetchReply
}

/// What a source gave.
package struct FetchReply: Sendable {
    package enum Body: Sendable {
        case content(Data, mediaType: String?)
        /// The server has nothing newer, or the command says so.
        case unchanged
    }

    package var body: Body
    /// HTTP's, or the command's exit status.
    package var status: Int
    /// Of the body, as they came.
    package var bytes: Int
    package var validators: FetchValidators?
    /// Seconds that it stays fresh, as the server says.
    package var freshness: Double?
    /// Whether `content` is new even where it equals what is kept: a command says so by exit status 0.
    package var isSurelyNew: Bool
    /// Of the server: what a local one names may be local, too. A command is the user's own.
    package var scope: AddressScope

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

/// Why a source gave nothing.
package struct FetchFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case refused
        /// There is no network, which is nobody's fault: the next try is not put off.
        case offline
        /// It will never be there again.
        case gone
        /// It took longer than its budget.
        case late
        /// The service stops, or the source goes.
        case cancelled
    }

    package var kind: Kind
    /// One line, what and why.
    package var reason: String
    package var status: Int?
    package var bytes: Int?
    /// Seconds that the server wants to be left alone.
    package var retryAfter: Double?

    package init(
        _ reason: String,
        kind: Kind = .refused,
        status: Int? = nil,
        bytes: Int? = nil,
        retryAfter: Double? = nil
    ) {
        let line = reason.withoutControlCharacters
        self.reason = line.count > FetchJudgement.reasonLength ? line.prefix(FetchJudgement.reasonLength) + "…" : line
        self.kind = kind
        self.status = status
        self.bytes = bytes
        self.retryAfter = retryAfter
    }

    package var description: String { reason }
}
