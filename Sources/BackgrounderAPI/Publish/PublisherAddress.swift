/// Where a publisher sends the points.
package enum PublisherAddress: Hashable, Sendable, CustomStringConvertible {
    /// An MQTT broker.
    case broker(BrokerAddress)
    /// A web server: the http or https URL to which each point is posted.
    case server(String)

    /// Reads an address. Of an http or https URL, only the scheme is checked.
    ///
    /// - Throws: ``BrokerAddressError``
    package init(_ text: String) throws(BrokerAddressError) {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        self = ["http", "https"].contains(scheme) ? .server(text) : .broker(try BrokerAddress(text))
    }

    /// The broker; `nil` for a web server.
    package var broker: BrokerAddress? {
        switch self {
        case .broker(let address): address
        case .server: nil
        }
    }

    package var description: String {
        switch self {
        case .broker(let address): address.description
        case .server(let url): url
        }
    }
}
