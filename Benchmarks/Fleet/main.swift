// Machines of a fleet that publish to one broker: the real publisher of each, with a history in memory and a fix every 10 s.
//
//     fleet-simulator FIRST COUNT BACKLOG PORT HOST...
//
// Machine number N connects to the host N modulo their number. Each begins with BACKLOG points. When stdin ends, the fixes stop,
// and the number of points of each machine is printed; the publishers continue.

import BackgrounderAPI
import FleetPublisher
import Foundation
import Logging
import NIOPosix
import Synchronization
import SystemSupport
import WebSupport

/// The history of a machine.
final class History: PublisherJournal {
    private let points = Mutex<[PublishedPoint]>([])

    var count: Int { points.withLock { $0.count } }

    /// Adds a point of this time and returns it.
    func append(_ time: Date) -> Location {
        points.withLock { points in
            let number = Double(points.count)
            let location = Location(latitude: 48 + number * 1e-5, longitude: 11, horizontalAccuracy: 5, timestamp: time)
            let id = Int64(points.count + 1)
            points.append(PublishedPoint(id: id, generation: "00000001", recorded: time, location: location))
            return location
        }
    }

    func points(after id: Int64, limit: Int) throws -> [PublishedPoint] {
        points.withLock { Array($0.dropFirst(Int(id)).prefix(limit)) }
    }

    let deletions = 0

    func newestPointID() async throws -> Int64 { Int64(count) }
    func lastPoint(before time: Date) async throws -> Int64 { 0 }
    func save(_ progress: PublishProgress, of publisher: String) throws {}
    func saveWithNextPoints(_ progress: PublishProgress, of publisher: String) -> Bool { false }
    func answered(_ command: String) throws {}
    func setPaused(_ isPaused: Bool, of publisher: String) async throws {}
    func change(removing: [String], adding: [StoredPublisher], adopting: [String]) async throws {}
}

guard CommandLine.arguments.count > 5 else { fatalError("usage: fleet-simulator FIRST COUNT BACKLOG PORT HOST...") }
let numbers = CommandLine.arguments[1...4].compactMap { Int($0) }
let (first, count, backlog, port) = (numbers[0], numbers[1], numbers[2], numbers[3])
let hosts = Array(CommandLine.arguments[5...])
let interval = 10.0
var logger = Logger(label: "simulator")
logger.logLevel = .critical
let web = WebAccess(clients: WebClients(on: MultiThreadedEventLoopGroup.singleton)) {
    RedirectPolicy(plainHosts: [])
}

var machines: [(history: History, publisher: FleetPublisher)] = []
for number in first..<first + count {
    let history = History()
    let now = Date()
    for index in 0..<backlog { _ = history.append(now - interval * Double(backlog - index)) }
    let publisher = FleetPublisher(
        saved: [
            StoredPublisher(
                name: "office",
                address: try PublisherAddress("mqtt://\(hosts[number % hosts.count]):\(port)"),
                machine: try MachineID("bus\(number)"),
                topic: "owntracks/fleet/bus\(number)",
                progress: PublishProgress(done: 0)
            )
        ],
        position: nil,
        journal: history,
        startWithin: .seconds(60),
        pace: nil,
        web: web,
        clock: ContinuousClock(),
        logger: logger
    ) {}
    machines.append((history, publisher))
    Task { try await publisher.run() }
}

let isOver = Atomic(false)
Thread.detachNewThread {
    _ = FileHandle.standardInput.readDataToEndOfFile()
    isOver.store(true, ordering: .relaxed)
}
// Each machine has its own second.
let clock = ContinuousClock()
var next = clock.now
var index = 0
while !isOver.load(ordering: .relaxed) {
    next += .seconds(interval / Double(count))
    try await clock.sleep(until: next)
    let (history, publisher) = machines[index]
    publisher.stored(history.append(Date()))
    index = (index + 1) % count
}
let counts = machines.enumerated().map { "bus\(first + $0) \($1.history.count)\n" }
try FileHandle.standardOutput.write(contentsOf: Data(counts.joined().utf8))
while true { try await clock.sleep(for: .seconds(3600)) }
