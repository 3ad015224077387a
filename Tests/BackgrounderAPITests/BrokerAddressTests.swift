import BackgrounderAPI
import Testing

@Suite struct BrokerAddressTests {
    @Test(arguments: [
        ("mqtt://broker.example", "mqtt://broker.example:1883"),
        ("MQTTS://broker.example/", "mqtts://broker.example:8883"),
        ("mqtt://127.0.0.1:18830", "mqtt://127.0.0.1:18830"), ("mqtts://[::1]", "mqtts://[::1]:8883"),
        ("mqtt://[fe80::1%eth0]:1", "mqtt://[fe80::1%eth0]:1"), ("mqtt://my_broker:65535", "mqtt://my_broker:65535"),
    ])
    func `a broker address has a scheme, a host and an optional port`(text: String, canonical: String) throws {
        let address = try BrokerAddress(text)
        #expect(address.description == canonical)
        #expect(try BrokerAddress(canonical) == address)
    }

    @Test(arguments: [
        "", "broker", "broker:1883", "http://broker", "mqtt:broker", "mqtt://", "mqtt://:1883", "mqtt:///t",
        "mqtt://b/t",
        "mqtt://b?x=1", "mqtt://b#t", "mqtt://b:0", "mqtt://b:65536", "mqtt://b:", "mqtt://b:x", "mqtt://b:+1",
        "mqtt://b c",
        "mqtt://[::1", "mqtt://[broker]", "mqtt://::1", "mqtt://-b", "mqtt://.b", "mqtt://b\u{7}", "mqtt://bröker",
        "mqtt://[::1]x", "mqtt://\(String(repeating: "b", count: 254))",
    ])
    func `an invalid broker address is rejected`(text: String) {
        #expect(throws: BrokerAddressError.self) { try BrokerAddress(text) }
    }

    @Test(arguments: ["mqtt://ann:secret@broker", "http://ann:secret@broker", "ann:secret@broker"])
    func `an address with a password is rejected without repeating the password`(text: String) {
        #expect(throws: BrokerAddressError.userInformation) { try BrokerAddress(text) }
        #expect(!BrokerAddressError.userInformation.description.contains("secret"))
    }

    @Test(arguments: ["t", "/", "a/b/c", "+", "#", "a/+/c", "+/+", "a/#", "$SYS/#", "a//b", "grüße/日本"])
    func `a topic may have wildcards for whole levels`(text: String) throws {
        #expect(try TopicFilter(text).description == text)
    }

    @Test(arguments: [
        "", "a+", "+a", "a/b+/c", "#/a", "a/#/b", "a#", "##", "a/\u{1}", "a\0b", String(repeating: "t", count: 1025),
    ])
    func `an invalid topic is rejected`(text: String) {
        #expect(throws: TopicFilterError.self) { try TopicFilter(text) }
    }
}
