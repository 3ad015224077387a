import AudioPlayback
import BackgrounderAPI
import FoundationEssentials
import Logging
import Synchronization

/// What would go to a client, said in the log while none is attached, in the words of INTERFACE.md.
final class BackgroundLog: Sendable {
    private let log: DaemonLog
    private let watch = Mutex<Watch?>(nil)

    private struct Watch {
        let player: QueuePlayer
        let id: Int
    }

    init(log: DaemonLog) { self.log = log }

    func log(_ locations: [Location]) {
        log.write(.info, count: locations.count) { index, line in
            line.append("App is backgrounded. New location is ")
            line.append(locations[index])
        }
    }

    /// Begins to say every `interval` how far the current item was heard.
    func beginTimes(of player: QueuePlayer, every interval: Duration) {
        // On the player's own thread, where a line is no wakeup more.
        let id = player.watchTime(forInterval: interval) { [log] item, elapsed in
            log.write(.info, mayWait: true) { _, line in
                line.append("Background: ")
                line.append(elapsed, places: 2)
                line.append(" ")
                line.append(text: item.fileName.withoutControlCharacters)
            }
        }
        replaceWatch(by: Watch(player: player, id: id))
    }

    func endTimes() { replaceWatch(by: nil) }

    private func replaceWatch(by new: Watch?) {
        let old = watch.withLock { watch in
            defer { watch = new }
            return watch
        }
        if let old { old.player.endWatch(old.id) }
    }
}

extension Location {
    /// `<+37.33482105,-122.03350886> +/- 5.00m (speed 15.90 mps / course 255.94) @ 2014-12-22T04:05:13.000Z`, without
    /// what is unknown.
    package var logDescription: String {
        var buffer = TextBuffer()
        buffer.append(self)
        return buffer.string
    }
}

extension TextBuffer {
    /// ``Location/logDescription``.
    mutating func append(_ location: Location) {
        append("<")
        append(location.latitude, places: 8, signed: true)
        append(",")
        append(location.longitude, places: 8, signed: true)
        append(">")
        if let accuracy = location.horizontalAccuracy {
            append(" +/- ")
            append(accuracy, places: 2)
            append("m")
        }
        if let speed = location.speed {
            append(" (speed ")
            append(speed, places: 2)
            append(" mps")
        }
        if let course = location.course {
            append(location.speed == nil ? " (course " : " / course ")
            append(course, places: 2)
        }
        if location.speed != nil || location.course != nil { append(")") }
        append(" @ ")
        append(location.timestamp)
    }
}
