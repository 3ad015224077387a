import GRDB

extension Schema {
    /// Creates the tables of the finite-length tasks. Times are nanoseconds on the monotonic clock of that `boot`; ids
    /// are never reused.
    ///
    /// `used` is the part of the budget that was spent before `countingSince`, when the budget last began to count.
    static func createTasks(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE task (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    name TEXT NOT NULL CHECK (name <> ''),
                    command TEXT NOT NULL CHECK (command LIKE '[%]'),
                    directory TEXT CHECK (directory LIKE '/%'),
                    state TEXT NOT NULL CHECK (
                        state IN ('running', 'expiring', 'expired', 'ended', 'finished', 'failed', 'lost')
                    ),
                    budget INTEGER NOT NULL,
                    grace INTEGER NOT NULL CHECK (grace > 0 AND grace < budget),
                    used INTEGER NOT NULL CHECK (used >= 0),
                    countingSince INTEGER,
                    boot TEXT NOT NULL,
                    strict INTEGER NOT NULL CHECK (strict IN (0, 1)),
                    repeats INTEGER NOT NULL CHECK (repeats IN (0, 1)),
                    isEndRequested INTEGER NOT NULL CHECK (isEndRequested IN (0, 1)),
                    running TEXT CHECK (running LIKE '{%}'),
                    pid INTEGER CHECK (pid > 0),
                    exitStatus INTEGER CHECK (exitStatus BETWEEN 0 AND 255),
                    detail TEXT,
                    position INTEGER CHECK (position > 0),
                    CHECK (countingSince IS NULL OR state IN ('running', 'expiring'))
                ) STRICT;
                CREATE TABLE taskHook (
                    name TEXT PRIMARY KEY CHECK (name <> ''),
                    command TEXT NOT NULL CHECK (command LIKE '[%]'),
                    directory TEXT CHECK (directory LIKE '/%'),
                    budget REAL NOT NULL CHECK (budget > 0),
                    grace REAL NOT NULL CHECK (grace > 0 AND grace < budget),
                    strict INTEGER NOT NULL CHECK (strict IN (0, 1)),
                    repeats INTEGER NOT NULL CHECK (repeats IN (0, 1))
                ) STRICT, WITHOUT ROWID;
                """
        )
    }

    /// Adds the event at which a hook begins its task.
    static func addHookEvent(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE taskHook ADD COLUMN event TEXT NOT NULL DEFAULT 'detach' CHECK (event IN ('detach', 'place'))
                """
        )
    }

    /// Adds the environment variables of a task or hook, as a JSON object of strings.
    static func addTaskEnvironment(_ database: Database) throws {
        for table in ["task", "taskHook"] {
            try database.execute(
                sql: """
                    ALTER TABLE \(table) ADD COLUMN environment TEXT NOT NULL DEFAULT '{}' CHECK (environment LIKE '{%}')
                    """
            )
        }
    }
}
