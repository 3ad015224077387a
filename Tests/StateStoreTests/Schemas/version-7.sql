-- The database as schema version 7 wrote it, with rows in every table.
BEGIN TRANSACTION;
CREATE TABLE fetchContent (
    source TEXT PRIMARY KEY REFERENCES fetchSource (name) ON DELETE CASCADE,
    bytes BLOB NOT NULL CHECK (length(bytes) <= 16777216),
    mediaType TEXT,
    items TEXT NOT NULL CHECK (items LIKE '[%]'),
    seen BLOB
) STRICT;
INSERT INTO "fetchContent" VALUES('news',X'3C7273732F3E','application/rss+xml','[]',X'5B5D');
CREATE TABLE fetchOpen (
    source TEXT NOT NULL REFERENCES fetchSource (name) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    secondsFromGMT INTEGER NOT NULL CHECK (abs(secondsFromGMT) <= 93600),
    PRIMARY KEY (source, at)
) STRICT, WITHOUT ROWID;
INSERT INTO "fetchOpen" VALUES('news',1763708150000,3600);
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
INSERT INTO "fetchRun" VALUES(9,'news','timer',1763708150000,1763708151000,1.0,'newData',200,6,NULL);
INSERT INTO "fetchRun" VALUES(10,'disk','manual',1763708150000,1763708151000,1.0,'failed',NULL,NULL,'it failed');
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
INSERT INTO "fetchSource" VALUES(1,'news','feed','https://h.invalid/feed',NULL,'3600',30.0,'/downloads',NULL,X'7B7D',2);
INSERT INTO "fetchSource" VALUES(2,'disk','raw',NULL,'["df"]','"minimum"',5.0,NULL,'/',X'7B7D',0);
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO "grdb_migrations" VALUES('1 track, queue, state, settings');
INSERT INTO "grdb_migrations" VALUES('2 trips');
INSERT INTO "grdb_migrations" VALUES('3 unreadable items');
INSERT INTO "grdb_migrations" VALUES('4 music');
INSERT INTO "grdb_migrations" VALUES('5 tasks');
INSERT INTO "grdb_migrations" VALUES('6 fetch');
INSERT INTO "grdb_migrations" VALUES('7 transfers');
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
INSERT INTO "location" VALUES(-4611686018427387904,1763708150000,1700000000000,52.1,13.1,NULL,NULL,NULL,NULL,NULL,NULL,2,1);
INSERT INTO "location" VALUES(-4611686018427387903,1763708150000,1700000001000,52.1001,13.1001,NULL,NULL,NULL,NULL,NULL,NULL,2,0);
INSERT INTO "location" VALUES(1,1763708150000,1763708149786,52.52,13.405,34.5,4.2,'epx',7.5,1.25,271.5,3,1);
INSERT INTO "location" VALUES(2,1763708151000,1763708150786,52.5201,13.4051,34.6,4.1,'epx',7.4,11.2,45.0,3,0);
INSERT INTO "location" VALUES(3,1763708152000,1763708151786,52.5202,13.4052,NULL,3.9,NULL,NULL,11.3,46.0,2,0);
CREATE TABLE music (directory TEXT NOT NULL, updated INTEGER) STRICT;
INSERT INTO "music" VALUES('/music',1700000000000);
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
, unreadable INTEGER NOT NULL DEFAULT 0 CHECK (unreadable IN (0, 1))) STRICT;
INSERT INTO "queueItem" VALUES(1,0,'/music/a b.mp3','Title','Artist','Album',12.5,44100,2,'mp3',0);
INSERT INTO "queueItem" VALUES(4,1,'/music/ü.wav',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1);
CREATE TABLE setting (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    configured TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO "setting" VALUES('location.desiredAccuracy','hundredMeters',NULL);
INSERT INTO "setting" VALUES('location.distanceFilter','12.5','0');
CREATE TABLE silentFile (
    path TEXT PRIMARY KEY,
    folder TEXT NOT NULL,
    modified INTEGER NOT NULL,
    size INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "silentFile" VALUES('cover.mp3','',1700000000000,10);
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
INSERT INTO "song" VALUES(1,'a b.mp3','','','a b.mp3','a b.mp3',1,1,1700000000000,1000,12.5,44100,2,'[]');
CREATE TABLE songFolder (
    path TEXT PRIMARY KEY CHECK (path <> ''),
    parent TEXT NOT NULL,
    key TEXT NOT NULL,
    modified INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO "songFolder" VALUES('sub','','sub',1700000000000);
CREATE TABLE songTag (
    song INTEGER NOT NULL REFERENCES song (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    value TEXT NOT NULL CHECK (value <> ''),
    folded TEXT NOT NULL,
    PRIMARY KEY (song, name, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO "songTag" VALUES(1,'Title',0,'Title','title');
CREATE TABLE state (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO "state" VALUES('retention.last',X'31373633373038313530303030');
CREATE TABLE sync (count INTEGER NOT NULL) STRICT;
INSERT INTO "sync" VALUES(7);
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
INSERT INTO "task" VALUES(6,'upload','["true"]','/','finished',60000000000,5000000000,1000000000,NULL,'11111111-2222-3333-4444-555555555555',0,1,0,NULL,123,0,NULL,NULL);
CREATE TABLE taskHook (
    name TEXT PRIMARY KEY CHECK (name <> ''),
    command TEXT NOT NULL CHECK (command LIKE '[%]'),
    directory TEXT CHECK (directory LIKE '/%'),
    budget REAL NOT NULL CHECK (budget > 0),
    grace REAL NOT NULL CHECK (grace > 0 AND grace < budget),
    strict INTEGER NOT NULL CHECK (strict IN (0, 1)),
    repeats INTEGER NOT NULL CHECK (repeats IN (0, 1))
) STRICT, WITHOUT ROWID;
INSERT INTO "taskHook" VALUES('detach','["date"]','/',60.0,5.0,1,0);
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
INSERT INTO "transfer" VALUES(8,'default','get','https://h.invalid/x','/downloads/x','done',NULL,10,10,1,0,0,NULL,NULL);
CREATE TABLE transferEvent (
    session TEXT NOT NULL REFERENCES transferSession (name),
    seq INTEGER NOT NULL CHECK (seq > 0),
    transfer INTEGER,
    state TEXT NOT NULL CHECK (state IN ('done', 'failed', 'cancelled', 'all-events-delivered')),
    at INTEGER NOT NULL,
    PRIMARY KEY (session, seq),
    CHECK ((state = 'all-events-delivered') = (transfer IS NULL))
) STRICT, WITHOUT ROWID;
INSERT INTO "transferEvent" VALUES('default',3,8,'done',1763708150000);
CREATE TABLE transferSession (
    name TEXT PRIMARY KEY CHECK (name <> ''),
    lastSeq INTEGER NOT NULL DEFAULT 0 CHECK (lastSeq >= 0)
) STRICT, WITHOUT ROWID;
INSERT INTO "transferSession" VALUES('default',3);
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
INSERT INTO "trip" VALUES(3,0,1763708152000,1763708149786,1763708151786,0,26.0,2.0,11.3,52.52,13.405,52.5202,13.4052,3,X'',1,3,NULL);
INSERT INTO "trip" VALUES(5,1,1763708150000,1700000000000,1700000001000,0,13.0,1.0,13.0,52.1,13.1,52.1001,13.1001,2,X'0000000000002640',-4611686018427387904,-4611686018427387903,'[[-4611686018427387904,-4611686018427387903]]');
CREATE INDEX locationTime ON location (time);
CREATE INDEX tripEnded ON trip (ended);
CREATE INDEX songOrder ON song (folderKey, folder, disc, track, nameKey, path);
CREATE INDEX songTagValue ON songTag (name, value);
CREATE INDEX songTagFolded ON songTag (name, folded);
CREATE INDEX songFolderParent ON songFolder (parent, key);
CREATE INDEX silentFileFolder ON silentFile (folder);
CREATE INDEX fetchRunSource ON fetchRun (source, id);
CREATE UNIQUE INDEX fetchRunOpen ON fetchRun (source) WHERE ended IS NULL;
CREATE INDEX transferOpen ON transfer (id) WHERE detail IS NOT NULL;
CREATE INDEX transferOfSession ON transfer (session);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('trip',5);
INSERT INTO "sqlite_sequence" VALUES('task',6);
INSERT INTO "sqlite_sequence" VALUES('fetchRun',10);
INSERT INTO "sqlite_sequence" VALUES('transfer',8);
COMMIT;
