import GRDB

extension Schema {
    /// Creates the tables of places: the places, an R*Tree of their boxes, and the events.
    ///
    /// The edges of a box are in units of 10⁻⁷ degrees; a box with a western edge east of its eastern one contains the antimeridian,
    /// and is two boxes in the tree, which does not know that longitudes are a circle. SQLite allows no triggers on the tree while it
    /// distrusts the schema; `indexPlaces` keeps it in step. Times are milliseconds since 1970.
    static func createPlaces(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE place (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    source TEXT NOT NULL DEFAULT '',
                    sourceId TEXT CHECK (sourceId <> ''),
                    name TEXT NOT NULL CHECK (name <> ''),
                    tags TEXT NOT NULL DEFAULT '[]' CHECK (tags LIKE '[%]'),
                    properties TEXT NOT NULL DEFAULT '{}' CHECK (properties LIKE '{%}'),
                    shape TEXT NOT NULL CHECK (shape LIKE '{%}'),
                    course REAL CHECK (course BETWEEN 0 AND 360),
                    tolerance REAL CHECK (tolerance BETWEEN 0 AND 180),
                    minLatitude INTEGER NOT NULL CHECK (minLatitude BETWEEN -900000000 AND 900000000),
                    maxLatitude INTEGER NOT NULL CHECK (maxLatitude BETWEEN minLatitude AND 900000000),
                    minLongitude INTEGER NOT NULL CHECK (minLongitude BETWEEN -1800000000 AND 1800000000),
                    maxLongitude INTEGER NOT NULL CHECK (maxLongitude BETWEEN -1800000000 AND 1800000000)
                ) STRICT;
                CREATE UNIQUE INDEX placeName ON place (source, name) WHERE sourceId IS NULL;
                CREATE UNIQUE INDEX placeSourceId ON place (source, sourceId) WHERE sourceId IS NOT NULL;
                CREATE INDEX placeByName ON place (name);
                CREATE VIRTUAL TABLE placeBox USING rtree_i32 (
                    id, minLatitude, maxLatitude, minLongitude, maxLongitude
                );
                CREATE TABLE placeEvent (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    placeId INTEGER NOT NULL,
                    place TEXT NOT NULL,
                    event TEXT NOT NULL CHECK (event IN ('enter', 'leave', 'dwell', 'pass', 'approach')),
                    timestamp INTEGER NOT NULL,
                    latitude REAL NOT NULL CHECK (latitude BETWEEN -90 AND 90),
                    longitude REAL NOT NULL CHECK (longitude BETWEEN -180 AND 180),
                    accuracy REAL CHECK (accuracy > 0),
                    distance REAL NOT NULL,
                    probability REAL CHECK (probability BETWEEN 0 AND 1),
                    eta REAL CHECK (eta >= 0),
                    estimated INTEGER CHECK (estimated = 1),
                    initial INTEGER CHECK (initial = 1),
                    tripId INTEGER,
                    actions TEXT NOT NULL DEFAULT '[]' CHECK (actions LIKE '[%]')
                ) STRICT;
                CREATE INDEX placeEventTime ON placeEvent (timestamp);
                CREATE INDEX placeEventPlace ON placeEvent (place, id);
                """
        )
    }

    /// Creates the table of the newest time at which each rule acted at each place, without which rules would act twice, and adds
    /// the event `next` and simulated events.
    static func createFirings(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE newPlaceEvent (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    placeId INTEGER NOT NULL,
                    place TEXT NOT NULL,
                    event TEXT NOT NULL CHECK (event IN ('enter', 'leave', 'dwell', 'pass', 'approach', 'next')),
                    timestamp INTEGER NOT NULL,
                    latitude REAL NOT NULL CHECK (latitude BETWEEN -90 AND 90),
                    longitude REAL NOT NULL CHECK (longitude BETWEEN -180 AND 180),
                    accuracy REAL CHECK (accuracy > 0),
                    distance REAL NOT NULL,
                    probability REAL CHECK (probability BETWEEN 0 AND 1),
                    eta REAL CHECK (eta >= 0),
                    estimated INTEGER CHECK (estimated = 1),
                    initial INTEGER CHECK (initial = 1),
                    tripId INTEGER,
                    actions TEXT NOT NULL DEFAULT '[]' CHECK (actions LIKE '[%]'),
                    simulated INTEGER CHECK (simulated = 1)
                ) STRICT;
                INSERT INTO newPlaceEvent SELECT *, NULL FROM placeEvent;
                DROP TABLE placeEvent;
                ALTER TABLE newPlaceEvent RENAME TO placeEvent;
                CREATE INDEX placeEventTime ON placeEvent (timestamp);
                CREATE INDEX placeEventPlace ON placeEvent (place, id);
                CREATE TABLE placeFiring (
                    rule TEXT NOT NULL CHECK (rule <> ''),
                    placeId INTEGER NOT NULL,
                    time INTEGER NOT NULL,
                    utcOffset INTEGER NOT NULL CHECK (utcOffset BETWEEN -86400 AND 86400),
                    tripId INTEGER,
                    isVisitOver INTEGER NOT NULL CHECK (isVisitOver IN (0, 1)),
                    PRIMARY KEY (rule, placeId)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX placeFiringPlace ON placeFiring (placeId);
                """
        )
    }
}
