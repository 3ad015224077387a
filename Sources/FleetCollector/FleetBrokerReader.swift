package import BackgrounderAPI
import FoundationEssentials
package import MQTTClient
import SystemSupport

/// Reads the messages that a broker keeps of the machines: their states, positions and status documents.
package struct FleetBrokerReader: Sendable {
    private enum Step: Sendable {
        case connected
        case message(MQTTMessage)
        case failed(MQTTFailure)
        case quiet(Int)
    }

    private struct Position: Decodable {
        var tst: Double
        var latitude: Double
        var longitude: Double
        var gps_accuracy: Double?
        var speed: Double?
        var course: Double?
    }

    private let options: MQTTOptions
    private let clock: any Clock<Duration>

    /// - Parameter machine: only this one.
    package init(
        _ address: BrokerAddress,
        machine: MachineID? = nil,
        credentials: String? = nil,
        certificate: ClientCertificate? = nil,
        clock: any Clock<Duration>
    ) throws {
        let id = machine?.description ?? "+"
        options = MQTTOptions(
            address: address,
            credentials: credentials,
            certificate: certificate,
            clientID: "backgrounder\(UInt32.random(in: 0...(.max)))",
            topics: try ["state", "status", "live"].map { try TopicFilter("backgrounder/v1/\(id)/\($0)") },
            isDurable: false,
            isPatient: false,
            batch: 1000
        )
        self.clock = clock
    }

    /// Returns the machines, by id.
    ///
    /// The messages arrive after the subscription, and nothing says which is the last one: the broker has sent all once no other topic
    /// has come for 500 ms.
    ///
    /// - Throws: ``MQTTFailure``
    package func machines() async throws -> [FleetMachine] {
        let steps = AsyncStream.makeStream(of: Step.self)
        let session = try MQTTSession(options, thread: "fleet") { messages, before in
            _ = await before()
            for message in messages { steps.continuation.yield(.message(message)) }
            return nil
        } report: { report in
            switch report {
            case .connected: steps.continuation.yield(.connected)
            case .failed(let failure): steps.continuation.yield(.failed(failure))
            }
        }
        defer { session.end() }
        var (machines, topics) = ([MachineID: FleetMachine](), Set<String>())
        /// Ends the wait unless another topic comes. Machines that send positions meanwhile do not prolong it.
        func wait() {
            Task { [clock, count = topics.count] in
                // Tuned: for a broker on the other side of the world.
                try? await clock.sleep(for: .milliseconds(500))
                steps.continuation.yield(.quiet(count))
            }
        }
        for await step in steps.stream {
            switch step {
            case .failed(let failure): throw failure
            case .connected: wait()
            case .message(let message):
                if note(message, in: &machines) { topics.insert(message.topic) }
            case .quiet(topics.count): return machines.values.sorted { $0.machine < $1.machine }
            case .quiet: wait()
            }
        }
        return []
    }

    /// Notes what a message says about a machine. Returns whether it says anything.
    private func note(_ message: MQTTMessage, in machines: inout [MachineID: FleetMachine]) -> Bool {
        let levels = message.topic.split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 4, let id = try? MachineID(String(levels[2])), let payload = message.payload else {
            return false
        }
        var machine = machines[id] ?? FleetMachine(id.description)
        switch levels[3] {
        case "state":
            let text = String(decoding: payload, as: UTF8.self)
            guard text == "online" || text == "offline" else { return false }
            machine.state = text
        case "status":
            guard let status = try? JSONDecoder().decode(MachineReport.self, from: Data(payload)) else { return false }
            machine.status = status
        default:
            guard let position = try? JSONDecoder().decode(Position.self, from: Data(payload)) else { return false }
            machine.time = Date(timeIntervalSince1970: position.tst)
            (machine.latitude, machine.longitude) = (position.latitude, position.longitude)
            (machine.accuracy, machine.speed) = (position.gps_accuracy, position.speed)
            machine.course = position.course
        }
        machines[id] = machine
        return true
    }
}
