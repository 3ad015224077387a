import BackgrounderAPI
import Foundation

/// Values of the interface, with all fields and with only the required ones.
enum Sample {
    static let date = Date(timeIntervalSince1970: 1_763_708_149.786)
    static let item = PlayerItem(
        id: 3,
        position: 0,
        path: "/a.mp3",
        title: "A",
        artist: "B",
        album: "C",
        duration: 1,
        sampleRate: 44_100,
        channels: 2,
        codec: "MP3",
        error: "no such file"
    )
    static let location = Location(
        latitude: 1,
        longitude: -180,
        altitude: -3,
        horizontalAccuracy: 4,
        accuracySource: .model,
        verticalAccuracy: 5,
        speed: 0,
        course: 360,
        timestamp: date,
        mode: 2,
        segmentStart: true
    )
    static let trip = Trip(
        id: 1,
        start: date,
        end: date.addingTimeInterval(1.5),
        distance: 3,
        movingTime: 1,
        topSpeed: 2.5,
        bounds: GeographicBounds(minLatitude: -1, minLongitude: 179, maxLatitude: 1, maxLongitude: -179),
        points: 3,
        speeds: [2, 0]
    )
    static var tripInProgress: Trip {
        var trip = trip
        (trip.inProgress, trip.speeds) = (true, [])
        return trip
    }
    static var damagedImport: ImportProgress {
        var progress = ImportProgress()
        (progress.finished, progress.fault) = (true, "a.gpx:3: damaged")
        return progress
    }
    static let places: [Place] = [
        Place(
            id: 1,
            definition: PlaceDefinition(
                name: "A",
                source: "s",
                sourceId: "i",
                tags: ["t"],
                properties: ["k": "v"],
                shape: .circle(center: Coordinate(latitude: 1, longitude: 2), radius: 3),
                course: 90,
                tolerance: 60
            ),
            inside: true,
            since: date
        ),
        Place(
            id: 2,
            definition: PlaceDefinition(
                name: "B",
                shape: .polygon(
                    rings: [[(0.0, 0.0), (1, 0), (0, 1)].map { Coordinate(latitude: $0.0, longitude: $0.1) }]
                )
            )
        ),
        Place(
            id: 3,
            definition: PlaceDefinition(
                name: "C",
                shape: .line(points: [0.0, 1].map { Coordinate(latitude: $0, longitude: 0) }, width: 5)
            )
        ),
    ]
    static let placeRoute = PlaceRouteProgress(
        name: "M41",
        stops: [
            PlaceRouteProgress.Stop(name: "A", sourceId: "1", placeId: 2, distance: 0, state: .left),
            PlaceRouteProgress.Stop(name: "B", placeId: 3, distance: 800, state: .approaching),
        ],
        length: 900,
        progress: 500,
        next: "B",
        diverted: true
    )

    static let placeRules = {
        var rule = PlaceRuleDescription(name: "r", on: .next, once: "trip", problems: ["p"])
        (rule.tags, rule.places, rule.eta, rule.within, rule.dwell) = (["t"], ["p"], 25, 200, 120)
        (rule.cooldown, rule.hours, rule.announce, rule.say) = (300, "05:00-23:00", "a.wav", "Next stop: {name}")
        (rule.duck, rule.priority, rule.expires, rule.fetch, rule.task) = (0.2, 5, 15, "news", "gate")
        return [rule, PlaceRuleDescription(name: "s", on: .enter, once: "visit")]
    }()

    static let placeEvents = [
        PlaceEvent(
            id: 1,
            placeId: 2,
            place: "A",
            event: .approach,
            timestamp: date,
            latitude: 1,
            longitude: 2,
            accuracy: 5,
            distance: -3,
            probability: 0.5,
            eta: 20,
            estimated: true,
            initial: true,
            simulated: true,
            tripId: 4,
            actions: [PlaceAction(rule: "r", kind: .say, outcome: .once, detail: "d")]
        ),
        PlaceEvent(
            id: 2,
            placeId: 2,
            place: "A",
            event: .leave,
            timestamp: date,
            latitude: 1,
            longitude: 2,
            distance: 3,
            actions: [PlaceAction(rule: "r", kind: .fetch, outcome: .fired)]
        ),
    ]
    static let transfer = Transfer(id: 1, session: "s", direction: .put, url: "https://h/", destination: "/a")
    static let waitingTransfer = Transfer(
        id: 2,
        session: "s",
        direction: .get,
        url: "https://h/",
        destination: "/a",
        state: .waiting,
        waitingFor: .disk,
        received: 1,
        total: 2,
        rate: 5,
        remaining: 0.2,
        attempts: 3,
        next: date,
        restarts: 4,
        discretionary: true,
        error: "e"
    )
    static let transferEvents = [
        TransferEvent(seq: 1, session: "s", transfer: 2, state: "done", at: date),
        TransferEvent(seq: 2, session: "s", transfer: nil, state: "all-events-delivered", at: date),
    ]
    static let source = FetchSource(
        name: "a",
        kind: .feed,
        url: "https://h/",
        interval: .custom(60),
        refresh: .restricted,
        updated: date,
        download: "/d",
        next: date,
        why: "w",
        failures: 1,
        lastError: "e",
        unseen: 2,
        runsPerDay: 3,
        pending: PendingFetch(id: 4, at: date)
    )
    static let bareSource = FetchSource(
        name: "b",
        kind: .raw,
        command: ["c"],
        interval: .minimum,
        budget: 0.5,
        state: .off
    )
    static let run = FetchRun(
        id: 1,
        source: "a",
        trigger: .predicted,
        began: date,
        ended: date,
        duration: 0.5,
        result: .failed,
        status: 404,
        bytes: 0,
        reason: "r"
    )
    static let feedItem = FetchItem(id: "i", title: "t", link: "https://h/", published: date)
    static let refresh = RefreshReply(status: .denied, sources: [.init(source: "a", status: .available)])
    static let bareLocation = Location(latitude: 1, longitude: 2, timestamp: date)
    static let fullLocationStatus = LocationStatus(
        updating: true,
        source: "gpx:a",
        connection: .replaying,
        quality: .starved,
        qualityDetail: "x",
        desiredAccuracy: .kilometer,
        target: 1000,
        acceptLimit: 3000,
        maximumAccuracy: 5,
        distanceFilter: 0,
        jitterGuard: false,
        received: 2,
        accepted: 1,
        rejected: RejectionCounts(),
        waiting: 1,
        health: failingStorage,
        lastFix: location,
        lastRejection: Rejection(reason: .accuracy, value: 40, limit: 30, timestamp: date),
        trackCount: 1,
        trip: TripProgress(start: date, distance: 1234.5, duration: 61, points: 12)
    )
    static let bareLocationStatus = LocationStatus(
        updating: false,
        source: "gpsd://localhost:2947",
        connection: .off,
        offReason: "no description",
        desiredAccuracy: .threeKilometers,
        target: 3000,
        distanceFilter: 10,
        jitterGuard: true,
        received: 0,
        accepted: 0,
        rejected: RejectionCounts(),
        lastRejection: Rejection(reason: .noFix),
        trackCount: 0
    )
    static let fullAudioStatus = AudioStatus(
        timeControlStatus: .waiting,
        currentItem: item,
        elapsed: 0,
        driver: "pulse",
        device: "d",
        format: "44100:16:2",
        buffered: 2.5,
        volume: 100,
        repeat: true,
        single: .oneshot,
        consume: true,
        random: true,
        underruns: 1,
        interruptions: 2,
        since: date,
        lastError: PlaybackError(path: "/a", reason: "r", timestamp: date),
        announcement: AnnouncementStatus(path: "/b", elapsed: 1.5, duration: 2, duck: 0.2, priority: -1),
        announcements: 3,
        health: failingStorage
    )
    static let bareAudioStatus = AudioStatus(
        timeControlStatus: .stopped,
        driver: "null",
        volume: 0,
        repeat: false,
        single: .off,
        consume: false,
        random: false,
        underruns: 0,
        interruptions: 0,
        since: date,
        lastError: PlaybackError(reason: "r", timestamp: date)
    )

    static let failingStorage = StorageHealth(
        problems: [
            StorageProblem(.diskFull, "m", hint: "h", since: date), .init(.damaged, "m", hint: "h", since: date),
        ],
        waiting: 2,
        capacity: 10,
        lasts: 4,
        dropped: 1
    )

    static let task = BackgroundTask(
        id: 1,
        name: "a",
        command: ["b", "c"],
        state: .failed,
        budget: 600,
        grace: 0.5,
        used: 3.25,
        remaining: 0,
        strict: true,
        repeat: true,
        pid: 7,
        exitStatus: 255,
        detail: "d"
    )
    static let bareTask = BackgroundTask(id: 2, name: "a", command: [], state: .lost, budget: 180, grace: 5)

    static let musicFolder = MusicFolderContent(
        path: "a",
        folders: ["b"],
        songs: [
            Song(
                path: "a/c.mp3",
                modified: date,
                duration: 1.5,
                sampleRate: 44100,
                channels: 2,
                tags: [SongTag(.title, "t")]
            ),
            Song(path: "a/d.mp3", modified: date),
        ]
    )
    static let pageCode = PageCode(
        code: String(repeating: "0", count: 32),
        expires: date,
        port: 1024,
        links: ["http://127.0.0.1:1024/#0"]
    )
    static let page = PageDescription(
        scope: .control,
        expires: date,
        version: "1",
        map: MapArchiveDescription(minZoom: 0, maxZoom: 14, bounds: [-1, 50, 1, 52], attribution: "a"),
        tiles: "https://h/{z}/{x}/{y}"
    )

    static func status(_ location: LocationStatus?, _ audio: AudioStatus?) -> ServiceStatus {
        ServiceStatus(
            version: "1",
            pid: 1,
            uptime: 12.5,
            state: .background,
            since: date,
            attached: 0,
            modes: BackgroundMode.allCases,
            location: location,
            audio: audio
        )
    }
}
