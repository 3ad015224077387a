import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import BackgroundFetch

/// Sessions with a real mosquitto.
@Suite struct MQTTSessionTests {
    @Test func `Messages come, retained and large ones are told apart, and wildcards work`() async throws {
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
        // All of them were acknowledged: nothing comes again.
        rig.session.end()
        let next = try MQTTRig(try .sample(port: broker.port, topic: "other"))
        try await next.waitUntilConnected()
        #expect(rig.messages.count == sizes.count + 2)
    }

    @Test func `A restart of the broker loses nothing that came before, during or after it`() async throws {
        let broker = try await Mosquitto(["allow_anonymous true", "log_type all"])
        let push = try StoredPush.sample(port: broker.port)
        do {
            let rig = try MQTTRig(push)
            try await rig.waitUntilConnected()
            try await broker.publish("1")
            try await rig.wait(messages: 1)
            // What it did not hear of would come again.
            try await broker.wait(for: "Received PUBACK")
            try await broker.stop()
            _ = try await rig.signal.wait(for: "the loss", within: 20) { rig.standings.count > 1 ? true : nil }
            try await broker.start()
            try await broker.publish("2")
            try await rig.waitUntilConnected(times: 2)
            try await rig.wait(messages: 2)
            #expect(rig.texts == ["1", "2"])
            #expect(rig.standings[1] == .failed(.closed))
        }
        // Nobody listens now; the broker keeps what comes, also over its own restart.
        try await broker.publish("3", "4")
        try await broker.stop()
        try await broker.start()
        let rig = try MQTTRig(push)
        try await rig.wait(messages: 2)
        #expect(rig.texts == ["3", "4"])
    }

    @Test func `What cannot be stored stays at the broker and comes again`() async throws {
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

    @Test func `A forgotten session keeps no messages at the broker`() async throws {
        let broker = try await Mosquitto()
        let push = try StoredPush.sample(port: broker.port)
        let rig = try MQTTRig(push)
        try await rig.waitUntilConnected()
        rig.session.end(forgetting: true)
        // Its own goodbye: the topic of another session tells when the broker has handled it.
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

    @Test func `A broker with passwords lets in who has the right one, from a file`() async throws {
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
        #expect(refused.isRefusal && refused.description.contains("--credentials"))
        try scratch.write("ann:wrong", to: "wrong")
        chmod(scratch.file("wrong"), 0o600)
        let wrong = try await MQTTRig(try .sample(port: broker.port, credentials: scratch.file("wrong")))
            .waitForFailure()
        #expect(wrong.isRefusal)
        chmod(file, 0o644)
        let open = try await MQTTRig(try .sample(port: broker.port, credentials: file)).waitForFailure()
        #expect(open == .credentials(.open(file, mode: 0o644)))
    }

    @Test func `TLS to a port without it is refused, and so is the reverse`() async throws {
        let broker = try await Mosquitto()
        let secure = try await MQTTRig(try .sample(port: broker.port, isSecure: true)).waitForFailure()
        #expect(secure.isRefusal && secure.description.hasPrefix("cannot establish TLS: "))
        let scratch = try ScratchDirectory()
        try await Certificate.make(in: scratch)
        let tls = try await Mosquitto(
            ["allow_anonymous true", "certfile \(scratch.file("cert"))", "keyfile \(scratch.file("key"))"]
        )
        let plain = try await MQTTRig(try .sample(port: tls.port)).waitForFailure()
        #expect(plain.isRefusal, "\(plain)")
        let untrusted = try await MQTTRig(try .sample(port: tls.port, isSecure: true)).waitForFailure()
        #expect(untrusted.isRefusal && untrusted.description.contains("certificate verify failed"), "\(untrusted)")
    }

    @Test func `A host that is none, and a port where nobody is, are told of`() async throws {
        var push = try StoredPush.sample()
        push.address.host = "no-such-host.invalid"
        guard case .unresolvable = try await MQTTRig(push).waitForFailure() else {
            Issue.record("not unresolvable")
            return
        }
        let failure = try await MQTTRig(try .sample(port: try freePort(SOCK_STREAM))).waitForFailure()
        #expect(failure == .unreachable(reason: "Connection refused"))
    }

    @Test func `A broker that has stopped holds up nothing, and is heard again when it goes on`() async throws {
        let broker = try await Mosquitto()
        let rig = try MQTTRig(try .sample(port: broker.port))
        try await rig.waitUntilConnected()
        broker.signal(SIGSTOP)
        // The kernel takes the connection, and nobody answers.
        let failure = try await MQTTRig(try .sample(port: broker.port)).waitForFailure()
        #expect(failure == .silent)
        broker.signal(SIGCONT)
        try await broker.publish("1")
        try await rig.wait(messages: 1)
    }
}
