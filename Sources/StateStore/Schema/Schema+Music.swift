import GRDB

extension Schema {
    /// Creates the music database. It can be rebuilt from the files, so none of its writes is durable.
    ///
    /// Songs are in the order of a walk: a folder's songs by disc, track and name, then its subfolders; the keys are
    /// ``NaturalKey``s. `tags` holds all tags of a song as one text. `songTag` has a row per tag, for searches; rows
    /// with an ordinal of 1,000 or more are not tags of the song, but artists that stand in for a missing album artist.
    static func createMusic(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE song (
                    id INTEGER PRIMARY KEY,
                    path TEXT NOT NULL UNIQUE CHECK (path <> '' AND path NOT LIKE '/%'),
                    folder TEXT NOT NULL,
                    folderKey TEXT NOT NULL,
                    nameKey TEXT NOT NULL,
                    foldedPath TEXT NOT NULL,
                    disc INTEGER NOT NULL,
                    track INTEGER NOT NULL,
                    modified INTEGER NOT NULL,
                    size INTEGER NOT NULL,
                    duration REAL CHECK (duration >= 0),
                    sampleRate INTEGER,
                    channels INTEGER,
                    tags TEXT NOT NULL
                ) STRICT;
                CREATE INDEX songOrder ON song (folderKey, folder, disc, track, nameKey, path);
                CREATE TABLE songTag (
                    song INTEGER NOT NULL REFERENCES song (id) ON DELETE CASCADE,
                    name TEXT NOT NULL,
                    ordinal INTEGER NOT NULL,
                    value TEXT NOT NULL CHECK (value <> ''),
                    folded TEXT NOT NULL,
                    PRIMARY KEY (song, name, ordinal)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX songTagValue ON songTag (name, value);
                CREATE INDEX songTagFolded ON songTag (name, folded);
                CREATE TABLE songFolder (
                    path TEXT PRIMARY KEY CHECK (path <> ''),
                    parent TEXT NOT NULL,
                    key TEXT NOT NULL,
                    modified INTEGER
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX songFolderParent ON songFolder (parent, key);
                CREATE TABLE silentFile (
                    path TEXT PRIMARY KEY,
                    folder TEXT NOT NULL,
                    modified INTEGER NOT NULL,
                    size INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX silentFileFolder ON silentFile (folder);
                CREATE TABLE music (directory TEXT NOT NULL, updated INTEGER) STRICT;
                """
        )
    }

    /// Creates the table of the texts that MPD clients attach to songs. They outlive the index of a music directory.
    static func createStickers(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE sticker (
                    path TEXT NOT NULL,
                    name TEXT NOT NULL,
                    value TEXT NOT NULL,
                    PRIMARY KEY (path, name)
                ) STRICT, WITHOUT ROWID;
                """
        )
    }
}
