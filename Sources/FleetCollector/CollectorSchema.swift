/// The tables of the collector, as numbered migrations. A released migration never changes.
///
/// PostgreSQL demands the column of the partitions in each unique key, so the primary key ends with the time. A point has the same time
/// in each message, so machine, generation and n identify it all the same.
enum CollectorSchema {
    private static let migrations = [
        """
        CREATE EXTENSION IF NOT EXISTS postgis;
        CREATE TABLE location (
            machine text NOT NULL,
            generation text NOT NULL,
            n bigint NOT NULL,
            time timestamptz NOT NULL,
            point geography(Point, 4326) NOT NULL,
            accuracy real,
            speed real,
            course real,
            altitude real,
            segment boolean NOT NULL,
            received timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (machine, generation, n, time)
        ) PARTITION BY RANGE (time);
        CREATE INDEX location_machine_time ON location (machine, time);
        CREATE TABLE location_other PARTITION OF location DEFAULT;
        CREATE TABLE machine (
            machine text PRIMARY KEY,
            state text,
            state_time timestamptz,
            status jsonb,
            status_time timestamptz
        );
        COMMENT ON TABLE location IS 'All points; accuracy and altitude in m, speed in m/s, course in degrees.';
        COMMENT ON COLUMN location.segment IS 'Whether a new segment of the track begins.';
        COMMENT ON COLUMN location.received IS 'When the collector stored the point.';
        CREATE VIEW latest_position AS
            SELECT machine.machine, newest.time, newest.point, newest.accuracy, newest.speed, newest.course,
                machine.state, machine.status
            FROM machine CROSS JOIN LATERAL (
                SELECT * FROM location WHERE location.machine = machine.machine AND time < now() + interval '5 minutes'
                ORDER BY time DESC LIMIT 1
            ) AS newest;
        CREATE VIEW daily_distance AS
            SELECT machine, day, sum(step) AS metres FROM (
                SELECT machine, date_trunc('day', time) AS day, CASE WHEN segment THEN 0 ELSE
                    coalesce(ST_Distance(point, lag(point) OVER (PARTITION BY machine ORDER BY time)), 0) END AS step
                FROM location
            ) AS steps GROUP BY machine, day;
        """
    ]

    /// Brings the schema up to date. Several collectors may do so at the same time.
    static func migrate(_ database: PostgresConnection) throws(PostgresError) {
        try database.transaction { () throws(PostgresError) in
            // Until the end of the transaction. Chosen at random.
            try database.run("SELECT pg_advisory_xact_lock(7218350414)")
            try database.run("CREATE TABLE IF NOT EXISTS backgrounder_schema (version integer PRIMARY KEY)")
            let version = try database.rows("SELECT coalesce(max(version), 0) FROM backgrounder_schema")
            let done = version.first?.first.flatMap { $0.flatMap { Int($0) } } ?? 0
            guard done <= migrations.count else {
                throw .schema(
                    "the database has version \(done) of the tables, and this collector knows \(migrations.count); upgrade it"
                )
            }
            for (index, migration) in migrations.enumerated() where index >= done {
                try database.run(migration)
                try database.run("INSERT INTO backgrounder_schema VALUES (\(index + 1))")
            }
        }
    }
}
