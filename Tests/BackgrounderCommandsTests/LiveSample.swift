import BackgrounderAPI
import FoundationEssentials

@testable import BackgrounderCommands

/// A busy service, for pictures of the live view.
enum LiveSample {
    static let now = Date(timeIntervalSince1970: 1_763_708_149)  // 2025-11-21T06:55:49Z
    static let instant = SuspendingClock.now

    static func lines(
        _ state: LiveState,
        _ view: ViewState,
        columns: Int = 80,
        rows: Int = 24,
        charset: Charset = .unicode
    ) -> [String] {
        LiveScreen(
            state: state,
            view: view,
            columns: columns,
            rows: rows,
            charset: charset,
            now: now,
            instant: instant
        ).lines()
    }

    static func state() -> LiveState {
        var state = LiveState()
        state.apply(
            .state(StateSnapshot(status: status, track: track, queue: queue, queueLength: queue.count)),
            at: instant
        )
        state.append(.success((0..<20).map { LogRecord(line: logLine($0)) }))
        return state
    }

    private static func logLine(_ index: Int) -> String {
        let text =
            index % 2 == 0
            ? "Background: 4.20 harbour.mp3"
            : "Transfer 7 of https://example.org/日本.jpg began, attempt \(index), and continues the file of an earlier one"
        return "2025-11-21T06:5\(index / 10):\(10 + index).000Z info \(text)"
    }

    static let location = LocationStatus(
        updating: true,
        source: "gpsd://localhost:2947",
        connection: .connected,
        quality: .ok,
        desiredAccuracy: .best,
        target: 10,
        acceptLimit: 30,
        distanceFilter: 0,
        jitterGuard: true,
        received: 1234,
        accepted: 1200,
        rejected: RejectionCounts(),
        lastFix: track.last,
        trackCount: 100,
        trip: TripProgress(
            start: now.addingTimeInterval(-1390),
            distance: 5243.2,
            duration: 1390.5,
            points: 812
        )
    )

    private static let status = ServiceStatus(
        version: "0.1.0",
        pid: 7,
        state: .active,
        since: now.addingTimeInterval(-600),
        attached: 1,
        modes: [.audio, .location],
        location: location,
        audio: AudioStatus(
            timeControlStatus: .playing,
            currentItem: queue[1],
            elapsed: 61.5,
            driver: "pulse",
            device: "Built-in Audio",
            volume: 80,
            repeat: true,
            single: .off,
            consume: false,
            random: false,
            underruns: 0,
            interruptions: 0,
            since: now
        ),
        tasks: [
            BackgroundTask(
                id: 1,
                name: "build",
                command: ["make"],
                state: .running,
                budget: 180,
                grace: 5,
                remaining: 150.5,
                strict: true
            ),
            BackgroundTask(
                id: 2,
                name: "sync",
                command: ["rsync"],
                state: .running,
                budget: 180,
                grace: 5,
                strict: false
            ),
        ],
        fetch: [("news", 3), ("weather", 0), ("tides", 0)].map { name, unseen in
            FetchSource(
                name: name,
                kind: .feed,
                interval: .minimum,
                next: now.addingTimeInterval(600),
                failures: name == "weather" ? 2 : 0,
                unseen: unseen
            )
        },
        transfers: [
            Transfer(
                id: 7,
                session: "photos",
                direction: .get,
                url: "https://example.org/x",
                destination: "/srv/photos/日本.jpg",
                state: .running,
                received: 3_400_000,
                total: 12_300_000
            )
        ]
    )

    private static let track: [Location] = (0..<100).map { (index: Int) -> Location in
        let step = Double(index)
        return Location(
            latitude: 37.33482105 + step * 0.0001,
            longitude: -122.03350886 - step * step * 0.000002,
            altitude: 88.4,
            horizontalAccuracy: 5,
            accuracySource: .receiver,
            speed: 15.9,
            course: 255.94,
            timestamp: now.addingTimeInterval(step - 100),
            segmentStart: index == 0 ? true : nil
        )
    }

    private static let queue: [PlayerItem] = [
        item(0, "Harbour Chimes", by: "Backgrounder", 12),
        item(1, "日本の歌 とても長い題名のある曲", by: "Café 👩‍👩‍👧", 200),
        item(2, "A title that is longer than most panels are wide", by: "An artist with a long name", 3754),
        item(3, "Gone", error: "cannot open /music/gone.mp3: no such file"),
    ]

    private static func item(
        _ position: Int,
        _ title: String,
        by artist: String? = nil,
        _ duration: Double? = nil,
        error: String? = nil
    ) -> PlayerItem {
        PlayerItem(
            id: 11 + position,
            position: position,
            path: "/music/\(position).mp3",
            title: title,
            artist: artist,
            album: "An album",
            duration: duration,
            error: error
        )
    }
}
