import GRDB

/// The tables, by numbered migrations; each is final once it was released.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 track, queue, state, settings") { database in
            try database.execute(
                sql: """
                    CREATE TABLE location (
                        id INTEGER PRIMARY KEY,
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
                    CREATE INDEX locationTime ON location (time);
                    CREATE TABLE queueItem (
                        id INTEGER PRIMARY KEY,
                        position INTEGER NOT NULL CHECK (position >= 0),
                        path TEXT NOT NULL CHECK (path LIKE '/%'),
                        title TEXT,
                        artist TEXT,
                        album TEXT,
                        duration REAL CHECK (duration >= 0),
                        sampleRate INTEGER,
                        channels INTEGER,
                        codec TEXT
                    ) STRICT;
                    CREATE TABLE state (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
                    CREATE TABLE setting (
                        key TEXT PRIMARY KEY,
                        value TEXT NOT NULL,
                        configured TEXT
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE sync (count INTEGER NOT NULL) STRICT;
                    INSERT INTO sync VALUES (0);
                    """
            )
        }
        return migrator
    }
}
