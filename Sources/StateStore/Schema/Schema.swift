import GRDB

/// The tables, as numbered migrations. A released migration never changes.
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
        // Live points have ids above 0, imported points below 0. A trip's points are the ids from firstPoint to
        // lastPoint. If an import found some of them in the history already, `runs` has the ids: a JSON list of pairs
        // of a first and a last id.
        migrator.registerMigration("2 trips") { database in
            try database.execute(
                sql: """
                    CREATE TABLE trip (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        imported INTEGER NOT NULL CHECK (imported IN (0, 1)),
                        recorded INTEGER NOT NULL,
                        began INTEGER NOT NULL,
                        ended INTEGER NOT NULL CHECK (ended >= began),
                        isOpen INTEGER NOT NULL CHECK (isOpen IN (0, 1)),
                        distance REAL NOT NULL CHECK (distance >= 0),
                        movingTime REAL NOT NULL CHECK (movingTime >= 0),
                        topSpeed REAL NOT NULL CHECK (topSpeed >= 0),
                        minLatitude REAL NOT NULL CHECK (minLatitude BETWEEN -90 AND 90),
                        minLongitude REAL NOT NULL CHECK (minLongitude BETWEEN -180 AND 180),
                        maxLatitude REAL NOT NULL CHECK (maxLatitude BETWEEN minLatitude AND 90),
                        maxLongitude REAL NOT NULL CHECK (maxLongitude BETWEEN -180 AND 180),
                        points INTEGER NOT NULL CHECK (points > 0),
                        speeds BLOB NOT NULL CHECK (length(speeds) % 8 = 0 AND length(speeds) <= 256),
                        firstPoint INTEGER NOT NULL,
                        lastPoint INTEGER NOT NULL,
                        runs TEXT CHECK (runs LIKE '[[%]]'),
                        UNIQUE (imported, firstPoint),
                        CHECK (runs IS NOT NULL OR lastPoint >= firstPoint)
                    ) STRICT;
                    CREATE INDEX tripEnded ON trip (ended);
                    """
            )
        }
        // Marks items without readable content, so that their files are not read again at each start.
        migrator.registerMigration("3 unreadable items") { database in
            try database.execute(
                sql: """
                    ALTER TABLE queueItem ADD COLUMN unreadable INTEGER NOT NULL DEFAULT 0 CHECK (unreadable IN (0, 1));
                    """
            )
        }
        migrator.registerMigration("4 music") { try createMusic($0) }
        migrator.registerMigration("5 tasks") { try createTasks($0) }
        migrator.registerMigration("6 fetch") { try createFetch($0) }
        migrator.registerMigration("7 transfers") { try createTransfers($0) }
        migrator.registerMigration("8 push") { try createPush($0) }
        migrator.registerMigration("9 task environment") { try addTaskEnvironment($0) }
        migrator.registerMigration("10 fetch credentials") { try addFetchCredentials($0) }
        migrator.registerMigration("11 fetch notes") { try addFetchNotes($0) }
        migrator.registerMigration("12 recent points") { try createRecentPoints($0) }
        migrator.registerMigration("13 stickers") { try createStickers($0) }
        migrator.registerMigration("14 declarations") { try addDeclarations($0) }
        migrator.registerMigration("15 addresses in the queue") { try allowAddresses($0) }
        migrator.registerMigration("16 priorities in the queue") { database in
            try database.execute(
                sql: """
                    ALTER TABLE queueItem ADD COLUMN priority INTEGER NOT NULL DEFAULT 0 CHECK (priority BETWEEN 0 AND 255)
                    """
            )
        }
        migrator.registerMigration("17 places") { try createPlaces($0) }
        migrator.registerMigration("18 rules of places") { database in
            try createFirings(database)
            try addHookEvent(database)
        }
        migrator.registerMigration("19 publishers") { try createPublishers($0) }
        migrator.registerMigration("20 commands of a fleet") { try createCommands($0) }
        migrator.registerMigration("21 publishers to web servers") { try allowServers($0) }
        return migrator
    }

    /// Lets items of the queue have an http or https address in place of a path. SQLite changes a constraint only with its
    /// table.
    private static func allowAddresses(_ database: Database) throws {
        let columns = "id, position, path, title, artist, album, duration, sampleRate, channels, codec, unreadable"
        try database.execute(
            sql: """
                CREATE TABLE newQueueItem (
                    id INTEGER PRIMARY KEY,
                    position INTEGER NOT NULL CHECK (position >= 0),
                    path TEXT NOT NULL CHECK (path LIKE '/%' OR path LIKE 'http://%' OR path LIKE 'https://%'),
                    title TEXT,
                    artist TEXT,
                    album TEXT,
                    duration REAL CHECK (duration >= 0),
                    sampleRate INTEGER,
                    channels INTEGER,
                    codec TEXT,
                    unreadable INTEGER NOT NULL DEFAULT 0 CHECK (unreadable IN (0, 1))
                ) STRICT;
                INSERT INTO newQueueItem (\(columns)) SELECT \(columns) FROM queueItem;
                DROP TABLE queueItem;
                ALTER TABLE newQueueItem RENAME TO queueItem;
                """
        )
    }

    /// Marks the fetch sources, pushes and task hooks that the configuration declares.
    private static func addDeclarations(_ database: Database) throws {
        for table in ["fetchSource", "push", "taskHook"] {
            try database.execute(
                sql: "ALTER TABLE \(table) ADD COLUMN declared INTEGER NOT NULL DEFAULT 0 CHECK (declared IN (0, 1))"
            )
        }
    }
}
