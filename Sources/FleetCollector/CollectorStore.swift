import FoundationEssentials
import SystemSupport

/// The collector's connection to PostgreSQL, which it opens again after a failure. Its methods block; use it from one thread at a time.
final class CollectorStore {
    /// A message of a machine about itself.
    enum Report: Hashable, Sendable {
        case state(String)
        /// JSON.
        case status(String)
    }

    private let url: String
    private var database: PostgresConnection?
    /// The months that have a partition, such as `2026-11`.
    private var months: Set<String> = []
    /// The machines that are in the table.
    private var machines: Set<String> = []

    init(url: String) { self.url = url }

    /// Stores points and reports in one transaction. Returns the number of points that were new.
    func store(_ points: [CollectedPoint], _ reports: [String: [Report]]) throws(PostgresError) -> Int {
        do throws(PostgresError) {
            let database = try connected()
            try preparePartitions(for: points, in: database)
            let names = Set(points.map(\.machine)).union(reports.keys).subtracting(machines)
            let new = try database.transaction { () throws(PostgresError) in
                for name in names.sorted() {
                    _ = try database.rows("INSERT INTO machine (machine) VALUES ($1) ON CONFLICT DO NOTHING", [name])
                }
                for (machine, reports) in reports.sorted(by: { $0.key < $1.key }) {
                    for report in reports { try Self.store(report, of: machine, in: database) }
                }
                return points.isEmpty ? 0 : try Self.store(points, in: database)
            }
            machines.formUnion(names)
            return new
        } catch {
            // The next session may be with another server.
            (database, months, machines) = (nil, [], [])
            throw error
        }
    }

    /// Returns the connection. Connects first if necessary, and brings the schema up to date.
    @discardableResult
    func connected() throws(PostgresError) -> PostgresConnection {
        if let database { return database }
        let database = try PostgresConnection(url)
        try CollectorSchema.migrate(database)
        try database.run(
            """
            CREATE TEMPORARY TABLE arrival (machine text, generation text, n bigint, time double precision,
                latitude double precision, longitude double precision, accuracy real, speed real, course real,
                altitude real, segment boolean) ON COMMIT DELETE ROWS
            """
        )
        self.database = database
        return database
    }

    private static func store(_ points: [CollectedPoint], in database: PostgresConnection) throws(PostgresError) -> Int
    {
        var lines = TextBuffer()
        for point in points { point.append(to: &lines) }
        try database.copy(lines.bytes, "COPY arrival FROM STDIN")
        return try database.run(
            """
            INSERT INTO location (machine, generation, n, time, point, accuracy, speed, course, altitude, segment)
            SELECT machine, generation, n, to_timestamp(time), ST_Point(longitude, latitude, 4326)::geography,
                accuracy, speed, course, altitude, segment
            FROM arrival ON CONFLICT DO NOTHING
            """
        )
    }

    private static func store(
        _ report: Report,
        of machine: String,
        in database: PostgresConnection
    ) throws(PostgresError) {
        switch report {
        case .state(let state):
            _ = try database.rows(
                "UPDATE machine SET state = $2, state_time = now() WHERE machine = $1",
                [machine, state]
            )
        case .status(let status):
            _ = try database.rows(
                "UPDATE machine SET status = $2::jsonb, status_time = now() WHERE machine = $1",
                [machine, status]
            )
        }
    }

    /// Creates the partitions of the months of `points`. Points of impossible times stay in the partition for all others.
    private func preparePartitions(
        for points: [CollectedPoint],
        in database: PostgresConnection
    ) throws(PostgresError) {
        let newest = Self.month(of: Date(timeIntervalSinceNow: 31 * 86_400))
        // The days first: a batch has few, and each needs a text.
        let days = Set(points.map { $0.time / 86_400_000 })
        for month in Set(days.map { Self.month(of: Date(timeIntervalSince1970: Double($0) * 86_400)) }).sorted()
        where !months.contains(month) && (Self.oldestMonth...newest).contains(month) {
            do throws(PostgresError) {
                try database.run(
                    """
                    CREATE TABLE IF NOT EXISTS location_\(month.replacing("-", with: "_")) PARTITION OF location
                    FOR VALUES FROM ('\(month)-01') TO (date '\(month)-01' + interval '1 month')
                    """
                )
            } catch {
                // Points of this month came while it was impossibly far away; they and others stay where they are.
                guard case .statement = error else { throw error }
            }
            months.insert(month)
        }
    }

    // Tuned: the civil use of GPS began then. Receivers with a wrong week number report earlier years.
    private static let oldestMonth = "2000-01"

    /// Such as `2026-11`; the order of the texts is that of the months.
    private static func month(of time: Date) -> String { String(ISO8601.string(time).prefix(7)) }
}
