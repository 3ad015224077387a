/// The error that crosses the socket: what failed, and what to do about it.
package struct WireError: Error, Codable, Hashable, Sendable {
    /// The kind of error, which determines the HTTP status.
    package enum Code: String, Codable, CaseIterable, Sendable {
        /// The body is not JSON.
        case badRequest
        /// The request has no valid token.
        case unauthorized
        /// The caller lacks the right, or the request may come from a foreign web page.
        case forbidden
        case notFound
        case methodNotAllowed
        /// Not possible in the current state.
        case conflict
        case tooLarge
        /// The request is meant for another host.
        case misdirected
        /// The body is not declared as JSON.
        case unsupportedMediaType
        /// The body is JSON, but not valid for this route; nothing was applied.
        case invalid
        case unavailable

        /// The status of the HTTP response.
        package var httpStatus: Int {
            switch self {
            case .badRequest: 400
            case .unauthorized: 401
            case .forbidden: 403
            case .notFound: 404
            case .methodNotAllowed: 405
            case .conflict: 409
            case .tooLarge: 413
            case .misdirected: 421
            case .unsupportedMediaType: 415
            case .invalid: 422
            case .unavailable: 503
            }
        }
    }

    package var code: Code
    /// The failure and its reason in one line.
    package var message: String
    /// The next step in one line.
    package var hint: String?

    /// Creates a wire error.
    package init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }
}
