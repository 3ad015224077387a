/// A session: a name that groups transfers and their events.
package struct SessionStatus: Codable, Hashable, Sendable {
    package var name: String
    /// Whether the configuration file declares it.
    package var declared: Bool
    /// The number of transfers that have not ended.
    package var open: Int
    /// The number of events that are not acknowledged.
    package var events: Int
    /// The defaults of its transfers, if the configuration declares them.
    package var discretionary: Bool?
    package var exists: ExistingFile?
    /// Bytes.
    package var sizeMax: Int64?

    /// Creates the status of a session.
    package init(name: String, open: Int = 0, events: Int = 0) {
        (self.name, self.open, self.events, declared) = (name, open, events, false)
    }
}

/// A session that the configuration declares, with the defaults for transfers that do not state these values.
package struct SessionDefinition: Hashable, Sendable {
    package var name: String
    package var discretionary: Bool?
    package var exists: ExistingFile?
    /// Bytes.
    package var sizeMax: Int64?

    /// Creates a session definition.
    package init(name: String, discretionary: Bool? = nil, exists: ExistingFile? = nil, sizeMax: Int64? = nil) {
        (self.name, self.discretionary, self.exists, self.sizeMax) = (name, discretionary, exists, sizeMax)
    }
}
