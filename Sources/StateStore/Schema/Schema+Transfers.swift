import GRDB

extension Schema {
    /// Creates the tables of the transfers and of their sessions' events, which stay until they are acknowledged.
    ///
    /// The end of a transfer and its event are stored together. `detail` is in the mode's own encoding, and NULL once
    /// the transfer is over. A session keeps its last event number forever.
    static func createTransfers(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE transferSession (
                    name TEXT PRIMARY KEY CHECK (name <> ''),
                    lastSeq INTEGER NOT NULL DEFAULT 0 CHECK (lastSeq >= 0)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE transfer (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    session TEXT NOT NULL REFERENCES transferSession (name),
                    direction TEXT NOT NULL CHECK (direction IN ('get', 'put')),
                    url TEXT NOT NULL,
                    destination TEXT NOT NULL CHECK (destination LIKE '/%'),
                    state TEXT NOT NULL CHECK (state IN
                        ('queued', 'waiting', 'running', 'verifying', 'moving', 'paused', 'done', 'failed', 'cancelled')),
                    waitingFor TEXT CHECK (waitingFor IN ('network', 'power', 'disk', 'backoff', 'limiter')),
                    received INTEGER NOT NULL CHECK (received >= 0),
                    total INTEGER CHECK (total >= 0),
                    attempts INTEGER NOT NULL CHECK (attempts >= 0),
                    restarts INTEGER NOT NULL CHECK (restarts >= 0),
                    discretionary INTEGER NOT NULL CHECK (discretionary IN (0, 1)),
                    error TEXT,
                    detail BLOB,
                    CHECK ((state = 'waiting') = (waitingFor IS NOT NULL)),
                    CHECK ((state IN ('done', 'failed', 'cancelled')) = (detail IS NULL)),
                    CHECK (received <= total OR total IS NULL OR state NOT IN ('moving', 'done'))
                ) STRICT;
                CREATE INDEX transferOpen ON transfer (id) WHERE detail IS NOT NULL;
                CREATE INDEX transferOfSession ON transfer (session);
                CREATE TABLE transferEvent (
                    session TEXT NOT NULL REFERENCES transferSession (name),
                    seq INTEGER NOT NULL CHECK (seq > 0),
                    transfer INTEGER,
                    state TEXT NOT NULL CHECK (state IN ('done', 'failed', 'cancelled', 'all-events-delivered')),
                    at INTEGER NOT NULL,
                    PRIMARY KEY (session, seq),
                    CHECK ((state = 'all-events-delivered') = (transfer IS NULL))
                ) STRICT, WITHOUT ROWID;
                """
        )
    }
}
