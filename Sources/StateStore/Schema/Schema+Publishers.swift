import GRDB

extension Schema {
    /// Creates the tables of the publishers.
    ///
    /// A power cut can take the newest points, and new points receive their ids again. So a point is known outside by its id and
    /// the generation that it belongs to: the last one that begins at its id or before. After each start, the first point begins another
    /// generation in its own transaction: a power cut that takes the generation takes all of its points, too.
    static func createPublishers(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE publisher (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
                    declared INTEGER NOT NULL DEFAULT 0 CHECK (declared IN (0, 1)),
                    url TEXT NOT NULL CHECK (url LIKE 'mqtt://%' OR url LIKE 'mqtts://%'),
                    machine TEXT NOT NULL CHECK (machine <> ''),
                    topic TEXT NOT NULL CHECK (topic <> ''),
                    homeAssistant INTEGER NOT NULL CHECK (homeAssistant IN (0, 1)),
                    credentials TEXT CHECK (credentials LIKE '/%'),
                    paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
                    done INTEGER NOT NULL,
                    published INTEGER NOT NULL DEFAULT 0 CHECK (published >= 0),
                    acknowledged INTEGER NOT NULL DEFAULT 0 CHECK (acknowledged >= 0),
                    dropped INTEGER NOT NULL DEFAULT 0 CHECK (dropped >= 0),
                    lastAcknowledged INTEGER
                ) STRICT;
                CREATE TABLE generation (
                    firstPoint INTEGER PRIMARY KEY,
                    name TEXT NOT NULL CHECK (length(name) = 8)
                ) STRICT;
                """
        )
    }
}
