import GRDB

extension Schema {
    /// Creates the tables of silent push: the subscriptions, the ids of received messages, the messages whose fetch is
    /// not over, and the times at which fetches began.
    ///
    /// A source has at most one waiting message and one that is being fetched. Times are milliseconds since 1970.
    static func createPush(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE push (
                    number INTEGER PRIMARY KEY,
                    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
                    url TEXT NOT NULL CHECK (url LIKE 'mqtt://%' OR url LIKE 'mqtts://%'),
                    topic TEXT NOT NULL CHECK (topic <> ''),
                    credentials TEXT CHECK (credentials LIKE '/%'),
                    client TEXT NOT NULL UNIQUE CHECK (length(client) BETWEEN 1 AND 23),
                    received INTEGER NOT NULL DEFAULT 0 CHECK (received >= 0),
                    retained INTEGER NOT NULL DEFAULT 0 CHECK (retained >= 0),
                    duplicate INTEGER NOT NULL DEFAULT 0 CHECK (duplicate >= 0),
                    expired INTEGER NOT NULL DEFAULT 0 CHECK (expired >= 0),
                    oversize INTEGER NOT NULL DEFAULT 0 CHECK (oversize >= 0),
                    malformed INTEGER NOT NULL DEFAULT 0 CHECK (malformed >= 0),
                    unknown INTEGER NOT NULL DEFAULT 0 CHECK (unknown >= 0)
                ) STRICT;
                CREATE TABLE pushID (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    id TEXT NOT NULL UNIQUE CHECK (id <> ''),
                    arrived INTEGER NOT NULL
                ) STRICT;
                CREATE TABLE pushMessage (
                    source TEXT NOT NULL CHECK (source <> ''),
                    isRunning INTEGER NOT NULL CHECK (isRunning IN (0, 1)),
                    began INTEGER CHECK ((began IS NOT NULL) = isRunning),
                    id TEXT NOT NULL CHECK (id <> ''),
                    alert TEXT CHECK (alert <> ''),
                    arrived INTEGER NOT NULL,
                    wasCut INTEGER NOT NULL DEFAULT 0 CHECK (wasCut IN (0, 1)),
                    PRIMARY KEY (source, isRunning)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE pushStart (
                    source TEXT NOT NULL CHECK (source <> ''),
                    began INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX pushStartSource ON pushStart (source, began);
                """
        )
    }
}
