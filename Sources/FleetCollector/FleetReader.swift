package import BackgrounderAPI
package import FoundationEssentials
import SystemSupport

/// A machine of a fleet, as its operator sees it.
package struct FleetMachine: Codable, Hashable, Sendable {
    package var machine: String
    /// `online`, `offline`, or `removed` from the fleet; absent if it never said so.
    package var state: String?
    /// When the state arrived; absent if a broker was asked.
    package var since: Date?
    /// The time of the newest position.
    package var time: Date?
    /// Degrees.
    package var latitude: Double?
    package var longitude: Double?
    /// Metres.
    package var accuracy: Double?
    /// Metres a second.
    package var speed: Double?
    package var course: Double?
    /// The number of stored points; only of one machine, and from a database.
    package var points: Int?
    /// The status document.
    package var status: MachineReport?

    /// Creates a machine with an id and nothing else.
    package init(_ machine: String) { self.machine = machine }
}

/// Reads the tables of the collectors.
package enum FleetReader {
    /// Returns the machines, by id. Blocks the calling thread.
    ///
    /// - Parameter machine: only this one, with the number of its points.
    /// - Throws: ``PostgresError``
    package static func machines(_ machine: String? = nil, at url: String) throws(PostgresError) -> [FleetMachine] {
        let database = try PostgresConnection(url)
        let tables = try database.rows("SELECT to_regclass('backgrounder_schema')")
        guard tables.first?.first != .some(nil) else {
            throw .schema("the database has no fleet; `backgrounder fleet collect` creates its tables")
        }
        let count = machine == nil ? "NULL" : "(SELECT count(*) FROM location WHERE machine = machine.machine)"
        let rows = try database.rows(
            """
            SELECT machine.machine, machine.state, extract(epoch FROM state_time), machine.status,
                extract(epoch FROM time), ST_Y(point::geometry), ST_X(point::geometry), accuracy, speed, course, \(count)
            FROM machine LEFT JOIN latest_position USING (machine)
            WHERE $1::text IS NULL OR machine.machine = $1 ORDER BY machine.machine
            """,
            [machine]
        )
        return rows.map { row in
            var machine = FleetMachine(row[0] ?? "")
            machine.state = row[1]
            machine.since = row[2].flatMap(Double.init).map { Date(timeIntervalSince1970: $0) }
            machine.status = row[3].flatMap { try? JSONDecoder().decode(MachineReport.self, from: Data($0.utf8)) }
            machine.time = row[4].flatMap(Double.init).map { Date(timeIntervalSince1970: $0) }
            (machine.latitude, machine.longitude) = (row[5].flatMap(Double.init), row[6].flatMap(Double.init))
            (machine.accuracy, machine.speed) = (row[7].flatMap(Double.init), row[8].flatMap(Double.init))
            machine.course = row[9].flatMap(Double.init)
            machine.points = row[10].flatMap { Int($0) }
            return machine
        }
    }
}
