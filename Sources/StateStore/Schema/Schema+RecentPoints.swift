import GRDB

extension Schema {
    /// Creates the table of the points that are not in the history yet, and keeps the state records in their rows. The view `point`,
    /// which has all points, is for people and programs that look into the file.
    ///
    /// A table without row ids keeps a quarter of a page of each row, and each change of the rest of a longer one writes three
    /// other pages.
    static func createRecentPoints(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE recentLocation (
                    id INTEGER PRIMARY KEY CHECK (id > 0),
                    recorded INTEGER NOT NULL,
                    time INTEGER NOT NULL,
                    latitude REAL NOT NULL CHECK (latitude BETWEEN -90 AND 90),
                    longitude REAL NOT NULL CHECK (longitude BETWEEN -180 AND 180),
                    altitude REAL,
                    horizontalAccuracy REAL CHECK (horizontalAccuracy > 0),
                    accuracySource TEXT,
                    verticalAccuracy REAL,
                    speed REAL CHECK (speed >= 0),
                    course REAL,
                    mode INTEGER NOT NULL CHECK (mode IN (2, 3)),
                    segmentStart INTEGER NOT NULL CHECK (segmentStart IN (0, 1))
                ) STRICT;
                CREATE VIEW point AS SELECT * FROM location UNION ALL SELECT * FROM recentLocation;
                CREATE TABLE newState (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
                INSERT INTO newState SELECT name, value FROM state;
                DROP TABLE state;
                ALTER TABLE newState RENAME TO state;
                """
        )
    }
}
