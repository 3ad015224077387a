import SystemSupport

extension Routes {
    package static let transfers = Route<Empty, [Transfer]>(.get, "/v1/transfers")
    package static let addTransfer = Route<TransferRequest, Transfer>(
        .post,
        "/v1/transfers",
        status: 201,
        access: .execute
    )
    /// Removes the ended transfers from the list.
    package static let clearTransfers = Route<Empty, ClearReply>(.delete, "/v1/transfers")
    package static let transfer = Route<Empty, Transfer>(.get, "/v1/transfers/{id}")
    /// Cancels a transfer and replies with its final state.
    package static let cancelTransfer = Route<Empty, Transfer>(.delete, "/v1/transfers/{id}")
    package static let pauseTransfer = Route<Empty, Transfer>(.post, "/v1/transfers/{id}/pause")
    package static let resumeTransfer = Route<Empty, Transfer>(.post, "/v1/transfers/{id}/resume")
    package static let sessions = Route<Empty, [SessionStatus]>(.get, "/v1/sessions")
    package static let sessionEvents = Route<Empty, [TransferEvent]>(.get, "/v1/sessions/{name}/events")
    package static let acknowledgeEvents = Route<Acknowledgement, [TransferEvent]>(.post, "/v1/sessions/{name}/ack")
}

/// The body of `POST /v1/transfers`.
package struct TransferRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)
    package static let defaultSession = "default"

    /// The default is `get`.
    package var direction: TransferDirection?
    package var url: String
    /// The absolute path of the file to write or to send. For a folder, or a path that ends with a slash, the name is that of the URL.
    package var destination: String
    /// The session, created if it does not exist (default `default`).
    package var session: String?
    /// 64 hexadecimal digits.
    package var sha256: String?
    /// The size limit in bytes.
    package var sizeMax: Int64?
    /// The default is `fail`.
    package var exists: ExistingFile?
    /// Whether to wait for power and an unmetered network.
    package var discretionary: Bool?
    /// The absolute path of a file with credentials for the server, readable only by its owner.
    package var credentials: String?

    /// Creates a transfer request.
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

extension TransferRequest {
    /// Returns whether `name` is valid for a session: 1 to 100 bytes without slashes and control characters.
    package static func isSession(_ name: String) -> Bool {
        (1...100).contains(name.utf8.count) && name.withoutControlCharacters == name
            && !name.utf8.contains(UInt8(ascii: "/"))
    }
}

/// The body of `POST /v1/sessions/{name}/ack`.
package struct Acknowledgement: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// The last event to acknowledge.
    package var seq: Int

    /// Creates an acknowledgement.
    package init(seq: Int) {
        self.seq = seq
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case seq
    }
}
