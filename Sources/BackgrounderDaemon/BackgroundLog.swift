import AudioPlayback
import BackgrounderAPI
import FoundationEssentials
import Logging
import Synchronization

/// What would go to a client, said in the log while none is attached, in the words of INTERFACE.md.
final class BackgroundLog: Sendable {
    private let logger: Logger
    private let timeLog = Mutex<Task<Void, Never>?>(nil)

    init(logger: Logger) {
        self.logger = logger
    }

    func log(_ location: Location) {
        logger.info("App is backgrounded. New location is \(location.logDescription)")
    }

    /// Begins to say every `interval` how far the current item was heard.
    func beginTimes(of player: QueuePlayer, every interval: Duration) {
        let task = Task { [logger] in
            var item: PlayerItem?
            for await time in await player.addPeriodicTimeObserver(forInterval: interval) {
                if item?.id != time.itemID { item = await player.status().currentItem }
                guard let item, item.id == time.itemID else { continue }
                logger.info("Background: \(time.elapsed.decimals(2)) \(item.fileName)")
            }
        }
        timeLog.withLock { current in
            current?.cancel()
            current = task
        }
    }

    func endTimes() {
        timeLog.withLock { current in
            current?.cancel()
            current = nil
        }
    }
}

extension Location {
    /// `<+37.33482105,-122.03350886> +/- 5.00m (speed 15.90 mps / course 255.94) @ 2014-12-22T04:05:13.000Z`, without
    /// what is unknown.
    package var logDescription: String {
        var text = "<\(latitude.decimals(8, signed: true)),\(longitude.decimals(8, signed: true))>"
        if let horizontalAccuracy { text += " +/- \(horizontalAccuracy.decimals(2))m" }
        let motion = [speed.map { "speed \($0.decimals(2)) mps" }, course.map { "course \($0.decimals(2))" }]
            .compactMap(\.self)
        if !motion.isEmpty { text += " (\(motion.joined(separator: " / ")))" }
        return text + " @ \(ISO8601.string(timestamp))"
    }
}
