import BackgrounderAPI
import FoundationEssentials
import MQTTClient
import SystemSupport

/// The topics and the messages of one publisher.
struct PublisherMessages: Sendable {
    private static let online = Array("online".utf8)
    private static let offline = Array("offline".utf8)
    /// The tag of messages that are acknowledged without an effect.
    static let noTag: Int64 = 0
    /// Bytes for the message of a point; most are shorter.
    private static let usualSize = 400

    private let publisher: StoredPublisher
    private let topic: String
    /// The part of each point's message that is the same for all: the name of the tracker, two characters in OwnTracks.
    private let trackerID: String

    init(_ publisher: StoredPublisher) {
        self.publisher = publisher
        topic = FleetTopics.machine(publisher.machine)
        trackerID = String(publisher.machine.description.suffix(2))
    }

    /// The message that the broker publishes when the connection is lost.
    var will: MQTTPublication { state(Self.offline) }

    /// Whether a web server receives the points, and nothing else.
    var isForServer: Bool { publisher.address.broker == nil }

    /// The messages after each connection: that the machine is online, and what Home Assistant needs to know about it.
    var greetings: [MQTTPublication] {
        [state(Self.online)] + (publisher.isForHomeAssistant ? [discovery] : [])
    }

    /// The messages before an end of the connection in order.
    ///
    /// - Parameter forgetting: whether the machine leaves the fleet, so that nothing of it stays at the broker.
    func farewell(forgetting: Bool) -> [MQTTPublication] {
        guard forgetting else { return [state(Self.offline)] }
        // An empty retained message deletes the one before (MQTT 3.1.1, 3.3.1.3).
        return [state([]), retained(topic + "live", []), retained(topic + "status", [])]
            + (publisher.isForHomeAssistant ? [retained(discoveryTopic, [])] : [])
    }

    /// The topic of events at places.
    var placeTopic: String { topic + "place" }

    /// Returns the status document, which the broker keeps.
    func status(_ content: [UInt8]) -> MQTTPublication { retained(FleetTopics.status(of: publisher.machine), content) }

    /// Returns the newest position, which is sent once and kept by the broker.
    func live(_ location: Location) -> MQTTPublication {
        var text = TextBuffer()
        text.append("{\"tst\":")
        text.append(shortest: (location.timestamp.timeIntervalSince1970 * 1000).rounded() / 1000)
        text.append(",\"latitude\":")
        text.append(location.latitude, places: 6)
        text.append(",\"longitude\":")
        text.append(location.longitude, places: 6)
        for (name, value) in [
            ("gps_accuracy", location.horizontalAccuracy), ("speed", location.speed), ("course", location.course),
            ("altitude", location.altitude),
        ] {
            guard let value else { continue }
            text.append(text: ",\"\(name)\":")
            text.append(shortest: (value * 10).rounded() / 10)
        }
        text.append("}")
        return MQTTPublication(topic: topic + "live", payload: text.takeBytes(), isRetained: true)
    }

    /// Returns the message of a point in OwnTracks' JSON; each time the same bytes.
    ///
    /// Source: <https://owntracks.org/booklet/tech/json/#_typelocation>.
    func point(_ point: PublishedPoint) -> MQTTPublication {
        let location = point.location
        let milliseconds = Int64((location.timestamp.timeIntervalSince1970 * 1000).rounded())
        var text = TextBuffer(capacity: Self.usualSize)
        text.append("{\"_type\":\"location\",\"_id\":\"")
        text.append(text: point.generation)
        text.append("-")
        text.append(UInt64(point.id))
        text.append("\"")
        append("tst", Double(milliseconds).seconds, to: &text)
        text.append(",\"lat\":")
        text.append(location.latitude, places: 6)
        text.append(",\"lon\":")
        text.append(location.longitude, places: 6)
        // OwnTracks' accuracy is a whole number above 0.
        append("acc", location.horizontalAccuracy.map { max(1, $0.rounded()) }, to: &text)
        append("alt", location.altitude?.rounded(), to: &text)
        append("vac", location.verticalAccuracy?.rounded(), to: &text)
        append("vel", location.speed.map { ($0 * 3.6).rounded() }, to: &text)
        append("cog", location.course.map { $0.rounded().truncatingRemainder(dividingBy: 360) }, to: &text)
        text.append(",\"tid\":\"")
        text.append(text: trackerID)
        text.append("\"")
        append("created_at", point.recorded.timeIntervalSince1970.rounded(.down), to: &text)
        text.append(",\"bg\":{\"g\":\"")
        text.append(text: point.generation)
        text.append("\",\"n\":")
        text.append(UInt64(point.id))
        text.append(",\"ms\":")
        text.append(UInt64(((milliseconds % 1000) + 1000) % 1000))
        text.append(location.segmentStart == true ? ",\"seg\":1}" : ",\"seg\":0}")
        if isForServer {
            // Traccar recognises the machine by it.
            text.append(",\"topic\":\"")
            text.append(text: publisher.topic)
            text.append("\"")
        }
        text.append("}")
        return MQTTPublication(topic: publisher.topic, payload: text.takeBytes(), tag: point.id)
    }

    private func append(_ name: StaticString, _ value: Double?, to text: inout TextBuffer) {
        guard let value else { return }
        text.append(",\"")
        text.append(name)
        text.append("\":")
        text.append(shortest: value)
    }

    private func state(_ payload: [UInt8]) -> MQTTPublication { retained(topic + "state", payload) }

    private func retained(_ topic: String, _ payload: [UInt8]) -> MQTTPublication {
        MQTTPublication(topic: topic, payload: payload, isRetained: true, tag: Self.noTag)
    }

    // MARK: Home Assistant

    private var discoveryTopic: String { "homeassistant/device_tracker/bg_\(publisher.machine)/config" }

    /// The description of the machine as a device that is tracked.
    ///
    /// Source: <https://www.home-assistant.io/integrations/device_tracker.mqtt/>.
    private var discovery: MQTTPublication {
        let id = publisher.machine.description
        let text = """
            {"unique_id":"bg_\(id)","json_attributes_topic":"\(topic)live","source_type":"gps",\
            "availability_topic":"\(topic)state","payload_available":"online","payload_not_available":"offline",\
            "device":{"identifiers":["bg_\(id)"],"name":"\(id)"}}
            """
        return retained(discoveryTopic, Array(text.utf8))
    }
}

extension Double {
    /// Whole seconds of a number of milliseconds.
    fileprivate var seconds: Double { (self / 1000).rounded(.down) }
}
