import GRDB

extension Schema {
    /// Creates the tables of the fetch mode. Times are milliseconds since 1970; `standing` and `seen` are in the mode's
    /// own encoding.
    static func createFetch(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE fetchSource (
                    id INTEGER PRIMARY KEY,
                    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
                    kind TEXT NOT NULL CHECK (kind IN ('feed', 'raw')),
                    url TEXT CHECK (url LIKE 'http%'),
                    command TEXT CHECK (command LIKE '[%]'),
                    interval TEXT NOT NULL CHECK (
                        interval IN ('"never"', '"minimum"') OR CAST(interval AS REAL) BETWEEN 60 AND 31536000
                    ),
                    budget REAL NOT NULL CHECK (budget > 0 AND budget <= 30),
                    download TEXT CHECK (download LIKE '/%'),
                    directory TEXT CHECK (directory LIKE '/%'),
                    standing BLOB NOT NULL,
                    unseen INTEGER NOT NULL DEFAULT 0 CHECK (unseen >= 0),
                    CHECK ((url IS NULL) <> (command IS NULL))
                ) STRICT;
                CREATE TABLE fetchContent (
                    source TEXT PRIMARY KEY REFERENCES fetchSource (name) ON DELETE CASCADE,
                    bytes BLOB NOT NULL CHECK (length(bytes) <= 16777216),
                    mediaType TEXT,
                    items TEXT NOT NULL CHECK (items LIKE '[%]'),
                    seen BLOB
                ) STRICT;
                CREATE TABLE fetchRun (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    source TEXT NOT NULL REFERENCES fetchSource (name) ON DELETE CASCADE,
                    trigger TEXT NOT NULL,
                    began INTEGER NOT NULL,
                    ended INTEGER,
                    duration REAL CHECK (duration >= 0),
                    result TEXT CHECK (result IN ('newData', 'noData', 'failed')),
                    status INTEGER,
                    bytes INTEGER CHECK (bytes >= 0),
                    reason TEXT,
                    CHECK ((ended IS NULL) = (result IS NULL)),
                    CHECK (result IS NULL OR (result = 'failed') = (reason IS NOT NULL))
                ) STRICT;
                CREATE INDEX fetchRunSource ON fetchRun (source, id);
                CREATE UNIQUE INDEX fetchRunOpen ON fetchRun (source) WHERE ended IS NULL;
                CREATE TABLE fetchOpen (
                    source TEXT NOT NULL REFERENCES fetchSource (name) ON DELETE CASCADE,
                    at INTEGER NOT NULL,
                    secondsFromGMT INTEGER NOT NULL CHECK (abs(secondsFromGMT) <= 93600),
                    PRIMARY KEY (source, at)
                ) STRICT, WITHOUT ROWID;
                """
        )
    }
    /// Adds the path of the file with a source's credentials. The credentials themselves are never stored.
    static func addFetchCredentials(_ database: Database) throws {
        try database.execute(
            sql: "ALTER TABLE fetchSource ADD COLUMN credentials TEXT CHECK (credentials LIKE '/%')"
        )
    }
    /// Adds a remark for runs that did not fail.
    static func addFetchNotes(_ database: Database) throws {
        try database.execute(sql: "ALTER TABLE fetchRun ADD COLUMN note TEXT")
    }
}
