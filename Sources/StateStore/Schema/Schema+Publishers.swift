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

    /// Adds the groups and certificates of publishers, and creates the table of the commands that they receive.
    ///
    /// `answered` is whether the sender's broker has the last reply.
    static func createCommands(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE publisher ADD COLUMN groups TEXT NOT NULL DEFAULT '';
                ALTER TABLE publisher ADD COLUMN certificate TEXT CHECK (certificate LIKE '/%');
                ALTER TABLE publisher ADD COLUMN certificateKey TEXT CHECK (certificateKey LIKE '/%');
                CREATE TABLE fleetCommand (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    id TEXT NOT NULL UNIQUE CHECK (id <> ''),
                    publisher TEXT NOT NULL CHECK (publisher <> ''),
                    content BLOB NOT NULL,
                    expires INTEGER NOT NULL,
                    result TEXT NOT NULL CHECK (result IN ('accepted', 'done', 'refused', 'expired')),
                    reason TEXT,
                    begun INTEGER NOT NULL DEFAULT 0 CHECK (begun IN (0, 1)),
                    answered INTEGER NOT NULL DEFAULT 0 CHECK (answered IN (0, 1))
                ) STRICT;
                """
        )
    }

    /// Lets publishers have an http or https address. SQLite changes a constraint only with its table.
    static func allowServers(_ database: Database) throws {
        let columns = """
            number, name, declared, url, machine, topic, homeAssistant, groups, credentials, certificate, certificateKey,
            paused, done, published, acknowledged, dropped, lastAcknowledged
            """
        try database.execute(
            sql: """
                CREATE TABLE newPublisher (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
                    declared INTEGER NOT NULL DEFAULT 0 CHECK (declared IN (0, 1)),
                    url TEXT NOT NULL CHECK (
                        url LIKE 'mqtt://%' OR url LIKE 'mqtts://%' OR url LIKE 'http://%' OR url LIKE 'https://%'
                    ),
                    machine TEXT NOT NULL CHECK (machine <> ''),
                    topic TEXT NOT NULL CHECK (topic <> ''),
                    homeAssistant INTEGER NOT NULL CHECK (homeAssistant IN (0, 1)),
                    groups TEXT NOT NULL DEFAULT '',
                    credentials TEXT CHECK (credentials LIKE '/%'),
                    certificate TEXT CHECK (certificate LIKE '/%'),
                    certificateKey TEXT CHECK (certificateKey LIKE '/%'),
                    paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
                    done INTEGER NOT NULL,
                    published INTEGER NOT NULL DEFAULT 0 CHECK (published >= 0),
                    acknowledged INTEGER NOT NULL DEFAULT 0 CHECK (acknowledged >= 0),
                    dropped INTEGER NOT NULL DEFAULT 0 CHECK (dropped >= 0),
                    lastAcknowledged INTEGER
                ) STRICT;
                INSERT INTO newPublisher (\(columns)) SELECT \(columns) FROM publisher;
                DROP TABLE publisher;
                ALTER TABLE newPublisher RENAME TO publisher;
                """
        )
    }
}
