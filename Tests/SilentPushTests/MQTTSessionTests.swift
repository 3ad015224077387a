import BackgrounderAPI
import Foundation
import TestSupport
import Testing
import WebSupport

@testable import MQTTClient
@testable import SilentPush

/// MQTT sessions with a real mosquitto.
@Suite struct MQTTSessionTests {
    @Test func `retained and oversized messages are marked, and wildcards match`() async throws {
        let broker = try await Mosquitto()
        try await broker.publish("kept", topic: "a/x/b", retained: true)
        let rig = try MQTTRig(try .sample(port: broker.port, topic: "a/+/b"))
        try await rig.waitUntilConnected()
        try await rig.wait(messages: 1)
        #expect(rig.messages[0].isRetained)
        let sizes = [4096, 4097, 16_000, 17_000, 70_000, 3_000_000]
        let scratch = try ScratchDirectory()
        for size in sizes {
            let file = try scratch.write(String(repeating: "x", count: size), to: "payload")
            try await Tool.run(
                words: ["mosquitto_pub", "-p", "\(broker.port)", "-q", "1", "-t", "a/y/b", "-f", file]
            )
        }
        withExtendedLifetime(scratch) {}
        try await broker.publish("last", topic: "a/z/b")
        try await rig.wait(messages: sizes.count + 2)
        #expect(rig.texts.map(\.count) == [4, 4096, 5, 5, 5, 5, 5, 4])
        #expect(rig.texts.dropFirst(2).dropLast().allSatisfy { $0 == "large" })
        // All messages were acknowledged, so none is sent again.
        rig.session.end()
        let next = try MQTTRig(try .sample(port: broker.port, topic: "other"))
        try await next.waitUntilConnected()
        #expect(rig.messages.count == sizes.count + 2)
    }

    @Test func `a message with a topic that is longer than the buffer is skipped and acknowledged`() async throws {
        let broker = try await Mosquitto()
        let rig = try MQTTRig(try .sample(port: broker.port, topic: "a/#"))
        try await rig.waitUntilConnected()
        for count in [16_000, 16_380, 17_000, 65_000] {
            for qos in ["0", "1"] {
                let topic = "a/" + String(repeating: "x", count: count)
                try await Tool.run(words: ["mosquitto_pub", "-p", "\(broker.port)", "-q", qos, "-t", topic, "-m", "1"])
            }
        }
        try await broker.publish("last", topic: "a/b")
        try await rig.wait(messages: 9)
        #expect(rig.texts.suffix(5) == ["large", "large", "large", "large", "last"])
        #expect(rig.reports == [.connected(refused: nil)])
        rig.session.end()
        // All were acknowledged.
        let next = try MQTTRig(try .sample(port: broker.port, topic: "other"))
        try await next.waitUntilConnected()
        try await broker.publish("other", topic: "other")
        try await next.wait(messages: 1)
        #expect(next.texts == ["other"])
    }

    @Test func `no message is lost before, during or after a restart of the broker`() async throws {
        let broker = try await Mosquitto(["allow_anonymous true", "log_type all"])
        let push = try StoredPush.sample(port: broker.port)
        do {
            let rig = try MQTTRig(push)
            try await rig.waitUntilConnected()
            try await broker.publish("1")
            try await rig.wait(messages: 1)
            // Without the acknowledgement the broker would send the message again.
            try await broker.wait(for: "Received PUBACK")
            try await broker.stop()
            _ = try await rig.signal.wait(for: "the loss", within: 20) { rig.reports.count > 1 ? true : nil }
            try await broker.start()
            try await broker.publish("2")
            try await rig.waitUntilConnected(times: 2)
            try await rig.wait(messages: 2)
            #expect(rig.texts == ["1", "2"])
            #expect(rig.reports[1] == .failed(.closed))
        }
        // Without a listener, the broker keeps the messages, even over its own restart.
        try await broker.publish("3", "4")
        try await broker.stop()
        try await broker.start()
        let rig = try MQTTRig(push)
        try await rig.wait(messages: 2)
        #expect(rig.texts == ["3", "4"])
    }

    @Test func `a message that cannot be stored stays at the broker and is sent again`() async throws {
        let broker = try await Mosquitto()
        let rig = try MQTTRig(try .sample(port: broker.port))
        try await rig.waitUntilConnected()
        rig.fill(true)
        try await broker.publish("1")
        #expect(try await rig.waitForFailure() == .notStored(reason: "the disk is full"))
        #expect(rig.messages.isEmpty)
        rig.fill(false)
        try await rig.wait(messages: 1)
        #expect(rig.texts == ["1"])
    }

    @Test func `a forgotten session leaves no messages at the broker`() async throws {
        let broker = try await Mosquitto()
        let push = try StoredPush.sample(port: broker.port)
        let rig = try MQTTRig(push)
        try await rig.waitUntilConnected()
        rig.session.end(forgetting: true)
        // The session ends asynchronously. After others connected and got a reply, the broker has processed its end.
        let other = try MQTTRig(try .sample(port: broker.port))
        try await other.waitUntilConnected()
        try await Tool.run(
            words: ["mosquitto_sub", "-p", "\(broker.port)", "-t", "$SYS/broker/subscriptions/count", "-C", "1"]
        )
        try await broker.publish("1")
        let back = try MQTTRig(push)
        try await back.waitUntilConnected()
        try await broker.publish("2")
        try await back.wait(messages: 1)
        #expect(back.texts == ["2"])
    }

    @Test func `a broker with passwords accepts only the right credentials from a private file`() async throws {
        let scratch = try ScratchDirectory()
        let passwords = try scratch.write("", to: "passwords")
        try await Tool.run("mosquitto_passwd", "-b", passwords, "ann", "se cret")
        let broker = try await Mosquitto(
            ["allow_anonymous false", "password_file %/passwords"],
            files: ["passwords": try String(contentsOfFile: passwords, encoding: .utf8)]
        )
        let file = try scratch.write("ann\nse cret\n", to: "credentials")
        chmod(file, 0o600)
        let allowed = try MQTTRig(try .sample(port: broker.port, credentials: file))
        try await allowed.waitUntilConnected()
        let refused = try await MQTTRig(try .sample(port: broker.port)).waitForFailure()
        #expect(refused.isRefusal)
        #expect(refused.description.contains("--credentials"))
        try scratch.write("ann:wrong", to: "wrong")
        chmod(scratch.file("wrong"), 0o600)
        let wrong = try await MQTTRig(try .sample(port: broker.port, credentials: scratch.file("wrong")))
            .waitForFailure()
        #expect(wrong.isRefusal)
        chmod(file, 0o644)
        let open = try await MQTTRig(try .sample(port: broker.port, credentials: file)).waitForFailure()
        #expect(open == .credentials(.open(file, mode: 0o644)))
    }

    @Test func `TLS to a plain port, plain MQTT to a TLS port and an untrusted certificate are refused`() async throws {
        let broker = try await Mosquitto()
        let secure = try await MQTTRig(try .sample(port: broker.port, isSecure: true)).waitForFailure()
        #expect(secure.isRefusal)
        // The broker may reset the connection before the client has read its answer.
        #expect(secure == .turnedAway || secure.description.hasPrefix("cannot establish TLS: "), "\(secure)")
        let scratch = try ScratchDirectory()
        try await Certificate.make(in: scratch)
        let tls = try await Mosquitto(
            ["allow_anonymous true", "certfile \(scratch.file("cert"))", "keyfile \(scratch.file("key"))"]
        )
        let plain = try await MQTTRig(try .sample(port: tls.port)).waitForFailure()
        #expect(plain.isRefusal, "\(plain)")
        let untrusted = try await MQTTRig(try .sample(port: tls.port, isSecure: true)).waitForFailure()
        #expect(untrusted.isRefusal, "\(untrusted)")
        #expect(untrusted.description.hasSuffix("certificate verify failed: self-signed certificate"), "\(untrusted)")
    }

    @Test func `an unresolvable host and a closed port are reported`() async throws {
        var push = try StoredPush.sample()
        push.address.host = "no-such-host.invalid"
        guard case .unresolvable = try await MQTTRig(push).waitForFailure() else {
            Issue.record("not unresolvable")
            return
        }
        let failure = try await MQTTRig(try .sample(port: try freePort(SOCK_STREAM))).waitForFailure()
        #expect(failure == .unreachable(reason: "Connection refused"))
    }

    @Test func `a stopped broker is reported as silent, and its messages arrive when it continues`() async throws {
        let broker = try await Mosquitto()
        let rig = try MQTTRig(try .sample(port: broker.port))
        try await rig.waitUntilConnected()
        broker.signal(SIGSTOP)
        // The kernel accepts the connection, but the broker does not answer.
        let failure = try await MQTTRig(try .sample(port: broker.port)).waitForFailure()
        #expect(failure == .silent)
        broker.signal(SIGCONT)
        try await broker.publish("1")
        try await rig.wait(messages: 1)
    }
}
