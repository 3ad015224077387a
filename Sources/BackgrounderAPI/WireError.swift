/// The one error that crosses the socket: what failed, and what to do about it.
package struct WireError: Error, Codable, Hashable, Sendable {
    package enum Code: String, Codable, CaseIterable, Sendable {
        /// The body is no JSON.
        case badRequest
        /// This user, or a web page, may not do it.
        case forbidden
        case notFound
        case methodNotAllowed
        /// Not in this state.
        case conflict
        case tooLarge
        /// The body is not declared as JSON.
        case unsupportedMediaType
        /// JSON, but not what this route takes; nothing of it was applied.
        case invalid
        case unavailable

        /// The status of the HTTP response.
        package var httpStatus: Int {
            switch self {
            case .badRequest: 400
            case .forbidden: 403
            case .notFound: 404
            case .methodNotAllowed: 405
            case .conflict: 409
            case .tooLarge: 413
            case .unsupportedMediaType: 415
            case .invalid: 422
            case .unavailable: 503
            }
        }
    }

    package var code: Code
    /// What failed and why, one line.
    package var message: String
    /// What to do next, one line.
    package var hint: String?

    package init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }
}
