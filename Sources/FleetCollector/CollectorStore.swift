import FoundationEssentials
import SystemSupport

/// The collector's connection to PostgreSQL, which it opens again after a failure. Its methods block; use it from one thread at a time.
final class CollectorStore {
    /// What a machine says about itself.
    enum Report: Hashable, Sendable {
        case state(String)
        /// JSON.
        case status(String)
    }

    private let url: String
    private var database: PostgresConnection?
    /// The months that have a partition, as months since the year 0.
    private var months: Set<Int> = []
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
            // What was prepared may be gone: another server, or another session.
            (database, months, machines) = (nil, [], [])
            throw error
        }
    }

    /// Connects, if there is no connection, and brings the schema up to date.
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
        let newest = Self.month(of: Int64(Date().timeIntervalSince1970 * 1000)) + 1
        // Tuned: the civil use of GPS began then. Receivers with a wrong week number report earlier years.
        let oldest = 2000 * 12
        for month in Set(points.map { Self.month(of: $0.time) }).sorted()
        where !months.contains(month) && (oldest...newest).contains(month) {
            let (first, next) = (Self.name(of: month), Self.name(of: month + 1))
            do throws(PostgresError) {
                try database.run(
                    """
                    CREATE TABLE IF NOT EXISTS location_\(first.replacing("-", with: "_")) PARTITION OF location
                    FOR VALUES FROM ('\(first)-01') TO ('\(next)-01')
                    """
                )
            } catch {
                // Points of this month came while it was impossibly far away; they and others stay where they are.
                guard case .statement = error else { throw error }
            }
            months.insert(month)
        }
    }

    /// Months since the year 0 of a time in milliseconds since 1970 (Howard Hinnant's algorithm `civil_from_days`).
    private static func month(of time: Int64) -> Int {
        let days = Int(time / 86_400_000) + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        return (yearOfEra + era * 400) * 12 + month + 2
    }

    /// Such as `2026-11`.
    private static func name(of month: Int) -> String {
        let number = month % 12 + 1
        return "\(month / 12)-\(number < 10 ? "0" : "")\(number)"
    }
}
