extension Routes {
    package static let transfers = Route<Empty, [Transfer]>(.get, "/v1/transfers")
    package static let addTransfer = Route<TransferRequest, Transfer>(
        .post,
        "/v1/transfers",
        status: 201,
        access: .execute
    )
    package static let transfer = Route<Empty, Transfer>(.get, "/v1/transfers/{id}")
    /// Gives it up; the reply is what became of it.
    package static let cancelTransfer = Route<Empty, Transfer>(.delete, "/v1/transfers/{id}")
    package static let pauseTransfer = Route<Empty, Transfer>(.post, "/v1/transfers/{id}/pause")
    package static let resumeTransfer = Route<Empty, Transfer>(.post, "/v1/transfers/{id}/resume")
    package static let sessionEvents = Route<Empty, [TransferEvent]>(.get, "/v1/sessions/{name}/events")
    package static let acknowledgeEvents = Route<Acknowledgement, [TransferEvent]>(.post, "/v1/sessions/{name}/ack")
}

/// `POST /v1/transfers`.
package struct TransferRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)
    package static let defaultSession = "default"

    /// `get` where none is given.
    package var direction: TransferDirection?
    package var url: String
    /// The absolute path of what comes or of what goes; a folder, or one that ends with a slash, takes the name from the URL.
    package var destination: String
    /// Made where there is none of this name; `default` where none is given.
    package var session: String?
    /// 64 hexadecimal digits.
    package var sha256: String?
    /// Bytes.
    package var sizeMax: Int64?
    /// `fail` where none is given.
    package var exists: ExistingFile?
    /// Waits for power and for a network that costs nothing.
    package var discretionary: Bool?
    /// The absolute path of a file that says who asks; only its owner may read it.
    package var credentials: String?

    package init(
        direction: TransferDirection? = nil,
        url: String,
        destination: String,
        session: String? = nil,
        sha256: String? = nil,
        sizeMax: Int64? = nil,
        exists: ExistingFile? = nil,
        discretionary: Bool? = nil,
        credentials: String? = nil
    ) {
        (self.direction, self.url, self.destination, self.session) = (direction, url, destination, session)
        (self.sha256, self.sizeMax, self.exists, self.discretionary) = (sha256, sizeMax, exists, discretionary)
        self.credentials = credentials
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case direction, url, destination, session, sha256, sizeMax, exists, discretionary, credentials
    }
}

/// `POST /v1/sessions/{name}/ack`.
package struct Acknowledgement: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// All events up to this one were seen.
    package var seq: Int

    package init(seq: Int) {
        self.seq = seq
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case seq
    }
}
