/// The routes of the page and its sessions.
extension Routes {
    /// Creates a code for the page, and starts the page's server if it does not run.
    package static let createPageCode = Route<PageCodeRequest, PageCode>(
        .post,
        "/v1/web/codes",
        status: 201,
        access: .read,
        isLocal: true
    )
    /// Exchanges a code for a token; needs none.
    package static let beginPageSession = Route<PageCodeExchange, PageToken>(
        .post,
        "/v1/web/session",
        access: .read
    )
    package static let pageSessions = Route<Empty, [PageSession]>(.get, "/v1/web/sessions", isLocal: true)
    package static let revokePageSession = Route<Empty, Empty>(
        .delete,
        "/v1/web/sessions/{id}",
        status: 204,
        isLocal: true
    )
    /// A stream of bytes: an image of the map of `web.map`, in the numbering of web maps (row 0 is in the north).
    package static let mapTilePath = "/v1/map/{z}/{x}/{y}"
    /// Needs a session.
    package static let page = Route<Empty, PageDescription>(.get, "/v1/web/page")
}
