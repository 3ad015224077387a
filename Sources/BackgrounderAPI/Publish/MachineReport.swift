/// The status document of a machine in a fleet: what an operator looks at first.
///
/// All but the id is optional, so that the document of another version can be read.
package struct MachineReport: Codable, Hashable, Sendable {
    /// The source of the positions.
    package struct Position: Codable, Hashable, Sendable {
        package var connection: String?
        package var quality: String?
        package var why: String?

        /// Creates the state of the source.
        package init(connection: String? = nil, quality: String? = nil, why: String? = nil) {
            (self.connection, self.quality, self.why) = (connection, quality, why)
        }
    }

    /// The player.
    package struct Sound: Codable, Hashable, Sendable {
        package var state: String?
        package var title: String?
        package var volume: Int?
        package var error: String?

        /// Creates the state of the player.
        package init(state: String? = nil, title: String? = nil, volume: Int? = nil, error: String? = nil) {
            (self.state, self.title, self.volume, self.error) = (state, title, volume, error)
        }
    }

    package var machine: String
    package var groups: [String]?
    package var version: String?
    package var state: String?
    package var location: Position?
    package var audio: Sound?
    package var health: String?
    package var problem: String?
    package var backlog: Int?
    package var dropped: Int?
    /// Accepted fixes since the start of the service.
    package var fixes: Int?
    /// Seconds.
    package var uptime: Int64?
    /// Seconds since 1970.
    package var time: Int64?

    /// Creates a report with an id and nothing else.
    package init(machine: String) { self.machine = machine }
}
