/// A call of the control API, declared once and used by client and server.
package struct Route<Body: RouteBody, Reply: Codable & Sendable>: Sendable {
    package var method: RouteMethod
    /// With `{name}` where a path component is a parameter.
    package var path: String
    /// The status of a successful response.
    package var status: Int
    /// The right that the caller needs.
    package var access: AccessLevel
    /// Whether only the Unix socket serves it, and not the page's server. The same is true for every route that needs `execute`.
    package var isLocal: Bool

    /// Declares a route.
    ///
    /// - Parameters:
    ///   - access: the right that the caller needs (default `read` for a GET, `control` for other methods).
    ///   - isLocal: whether only the Unix socket serves it.
    package init(
        _ method: RouteMethod,
        _ path: String,
        status: Int = 200,
        access: AccessLevel? = nil,
        isLocal: Bool = false
    ) {
        self.method = method
        self.path = path
        self.status = status
        self.access = access ?? (method == .get ? .read : .control)
        self.isLocal = isLocal
    }
}

/// The rights of a user of the control socket. Each level includes the ones before it.
package enum AccessLevel: String, Codable, CaseIterable, Comparable, Sendable {
    /// See status, track, queue, log and events.
    case read
    /// Change what the service plays and records, and stop it.
    case control
    /// Make the service run a command, or open a file or an address, with the rights of the service.
    case execute

    /// Returns whether `a` allows less than `b`.
    package static func < (a: AccessLevel, b: AccessLevel) -> Bool {
        a.rank < b.rank
    }

    private var rank: Int {
        switch self {
        case .read: 0
        case .control: 1
        case .execute: 2
        }
    }
}

/// The method of a route.
package enum RouteMethod: String, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
}

/// The body of a request: a JSON object with only these keys.
package protocol RouteBody: Codable, Sendable {
    /// The keys that the body accepts.
    static var keys: [String] { get }
    /// The keys that may be `null`, which differs from absent.
    static var nullableKeys: [String] { get }
}

extension RouteBody {
    package static var nullableKeys: [String] { [] }
}

/// An empty body; in JSON `{}`.
package struct Empty: RouteBody, Hashable {
    package static let keys: [String] = []

    /// Creates an empty body.
    package init() {}
}
