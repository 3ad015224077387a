import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import BackgrounderDaemon

/// The fetch sources, pushes, task hooks and sessions that a configuration declares, and their faults.
@Suite struct DeclarationTests {
    private let fixture: ConfigurationFixture

    init() throws {
        fixture = try ConfigurationFixture()
    }

    @Test func `declared sources, pushes and hooks are read with their defaults`() throws {
        let broker = try fixture.scratch.write("ann\nsecret\n", to: "broker")
        let web = try fixture.scratch.write("bearer = t\n", to: "web")
        for file in [broker, web] { chmod(file, 0o600) }
        let declarations = try fixture.load(
            """
            modes: [fetch]
            fetch:
              sources:
                news: {url: https://a.example/rss, interval: 1h, budget: 10s, download: downloads/news, credentials: web}
                disk: {exec: df -h /, directory: data, kind: raw, interval: minimum}
            push:
              subscriptions:
                home: {mqtt: mqtts://b.example, topic: home/+/news, credentials: broker}
            tasks:
              hooks:
                sync:
                  command: [rsync, -a, "1"]
                  directory: data
                  environment: {RSYNC_RSH: ssh -p 2222}
                  budget: 60s
                  grace: 1500ms
                  strict: yes
                  repeat: true
                plain: {command: [./sync.sh], on: place}
            transfers:
              sessions:
                maps: {discretionary: true, exists: rename, sizeMax: 2K}
                "a b": {}
            """
        ).declarations
        #expect(
            declarations.sources == [
                FetchDefinition(
                    name: "news",
                    url: "https://a.example/rss",
                    kind: .feed,
                    interval: .custom(3600),
                    budget: 10,
                    download: fixture.scratch.file("downloads/news"),
                    credentials: web
                ),
                FetchDefinition(
                    name: "disk",
                    command: ["/bin/sh", "-c", "df -h /"],
                    kind: .raw,
                    interval: .minimum,
                    directory: fixture.scratch.file("data")
                ),
            ]
        )
        #expect(
            declarations.pushes == [
                PushRequest(name: "home", url: "mqtts://b.example", topic: "home/+/news", credentials: broker)
            ]
        )
        #expect(
            declarations.hooks == [
                TaskRequest(
                    name: "sync",
                    command: ["rsync", "-a", "1"],
                    directory: fixture.scratch.file("data"),
                    environment: ["RSYNC_RSH": "ssh -p 2222"],
                    budget: 60,
                    grace: 1.5,
                    strict: true,
                    repeat: true
                ), TaskRequest(name: "plain", command: ["./sync.sh"], on: .place),
            ]
        )
        #expect(
            declarations.sessions == [
                SessionDefinition(name: "maps", discretionary: true, exists: .rename, sizeMax: 2048),
                SessionDefinition(name: "a b"),
            ]
        )
        #expect(try fixture.load("modes: [audio]\nfetch: {sources: }\npush:\ntasks: {hooks: {}}").declarations.isEmpty)
    }

    @Test(
        arguments: [
            ("fetch:\n  sources: 5", 2, "fetch.sources: use names, each with keys of its own: url, exec, interval"),
            ("fetch:\n  sources:\n    news: x", 3, "fetch.sources.news: use keys of url, exec, interval"),
            ("fetch:\n  sources:\n    -a: {exec: ls}", 3, "fetch.sources.-a: \"-a\" is not a valid source name"),
            ("fetch:\n  sources:\n    a: {interval: 1h}", 3, "fetch.sources.a: a source needs a url or an exec"),
            (
                "fetch:\n  sources:\n    a: {exec: ls, url: \"https://h/\"}", 3,
                "fetch.sources.a: a source has a url or an exec, not both"
            ),
            ("fetch:\n  sources:\n    a:\n      url: ftp://h/", 4, "fetch.sources.a.url: \"ftp://h/\" is not a web"),
            (
                "fetch:\n  sources:\n    a:\n      url: http://h/", 4,
                "fetch.sources.a.url: unencrypted http to h is not allowed; use https, or add h to transfers.allowHTTP"
            ),
            ("fetch:\n  sources:\n    a:\n      url: [1]", 4, "fetch.sources.a.url: use an http or https URL"),
            ("fetch:\n  sources:\n    a:\n      exec: ''", 4, "fetch.sources.a.exec: \"\" is not valid; use a shell"),
            (
                "fetch:\n  sources:\n    a:\n      exec: ls\n      interval: 5s", 5,
                "fetch.sources.a.interval: \"5s\" is not valid; use never, minimum, or a duration from 60s to 365d"
            ),
            (
                "fetch:\n  sources:\n    a:\n      exec: ls\n      budget: 31s", 5,
                "fetch.sources.a.budget: \"31s\" is not valid; use a duration of at most 30s"
            ),
            (
                "fetch:\n  sources:\n    a:\n      exec: ls\n      kind: html", 5,
                "fetch.sources.a.kind: \"html\" is not valid; use feed or raw"
            ),
            (
                "fetch:\n  sources:\n    a:\n      exec: ls\n      download: downloads", 5,
                "fetch.sources.a.download: only a feed has enclosures to download"
            ),
            (
                "fetch:\n  sources:\n    a:\n      url: https://h/\n      download: /etc", 5,
                "fetch.sources.a.download: /etc is outside the transfer folders"
            ),
            (
                "fetch:\n  sources:\n    a:\n      exec: ls\n      credentials: c", 5,
                "fetch.sources.a.credentials: a command cannot use credentials"
            ),
            (
                "fetch:\n  sources:\n    a:\n      url: https://h/\n      credentials: nowhere", 5,
                "fetch.sources.a.credentials: "
            ),
            (
                "fetch:\n  sources:\n    a:\n      url: https://h/\n      directory: x", 5,
                "fetch.sources.a.directory: only a command has a directory"
            ),
            (
                "fetch:\n  sources:\n    a:\n      exec: ls\n      intervall: 1h", 5,
                "unknown key fetch.sources.a.intervall; did you mean interval?"
            ),
            (
                "fetch:\n  sources:\n    a:\n      exec: ls\n      colour: red", 5,
                "unknown key fetch.sources.a.colour; known keys: url, exec, interval"
            ),
            ("fetch:\n  source:\n    a: {exec: ls}", 2, "unknown key fetch.source; did you mean sources?"),
            ("transfers:\n  sessions:\n    a/b: {}", 3, "transfers.sessions.a/b: \"a/b\" is not a valid session name"),
            (
                "transfers:\n  sessions:\n    a:\n      exists: maybe", 4,
                "transfers.sessions.a.exists: \"maybe\" is not valid; use fail, overwrite or rename"
            ),
            (
                "transfers:\n  sessions:\n    a:\n      sizeMax: 0", 4,
                "transfers.sessions.a.sizeMax: \"0\" is not valid; use 1 byte or more"
            ),
            (
                "transfers:\n  sessions:\n    a:\n      discretionary: 2", 4,
                "transfers.sessions.a.discretionary: \"2\" is not valid; use true or false"
            ),
            ("push:\n  subscriptions:\n    a: {topic: t}", 3, "push.subscriptions.a: a push needs mqtt; add it"),
            (
                "push:\n  subscriptions:\n    a: {mqtt: \"mqtt://b\"}", 3,
                "push.subscriptions.a: a push needs topic; add it"
            ),
            (
                "push:\n  subscriptions:\n    a:\n      topic: t\n      mqtt: http://b", 5,
                "push.subscriptions.a.mqtt: \"http://b\" is not valid; use mqtt://HOST"
            ),
            (
                "push:\n  subscriptions:\n    a:\n      mqtt: mqtt://b\n      topic: a#", 5,
                "push.subscriptions.a.topic: \"a#\" is not valid; use a topic"
            ),
            (
                "push:\n  subscriptions:\n    a:\n      mqtt: mqtt://b\n      topic: t\n      credentials: nowhere", 6,
                "push.subscriptions.a.credentials: "
            ),
            ("push:\n  subscriptions:\n    -a: {mqtt: \"mqtt://b\", topic: t}", 3, "push.subscriptions.-a: \"-a\" is"),
            ("tasks:\n  hooks:\n    a: {budget: 5s}", 3, "tasks.hooks.a: a hook needs a command"),
            ("tasks:\n  hooks:\n    a:\n      command: ls", 4, "tasks.hooks.a.command: use a list with a program"),
            ("tasks:\n  hooks:\n    a:\n      command: []", 4, "tasks.hooks.a.command: use a list with a program"),
            (
                "tasks:\n  hooks:\n    a:\n      command: [ls]\n      budget: 11m", 5,
                "tasks.hooks.a.budget: the budget 11m is out of range"
            ),
            (
                "tasks:\n  hooks:\n    a:\n      command: [ls]\n      budget: 5s\n      grace: 5s", 6,
                "tasks.hooks.a.grace: the grace 5s is out of range"
            ),
            (
                "tasks:\n  hooks:\n    a:\n      command: [ls]\n      strict: maybe", 5,
                "tasks.hooks.a.strict: \"maybe\" is not valid; use true or false"
            ),
            (
                "tasks:\n  hooks:\n    a:\n      command: [ls]\n      on: attach", 5,
                "tasks.hooks.a.on: \"attach\" is not valid; use detach or place"
            ),
            (
                "tasks:\n  hooks:\n    a:\n      command: [ls]\n      environment: [A]", 5,
                "tasks.hooks.a.environment: use variables and their values"
            ),
            (
                "tasks:\n  hooks:\n    a:\n      command: [ls]\n      environment: {1A: x}", 5,
                "tasks.hooks.a.environment: \"1A\" is not a valid variable name"
            ),
        ]
    )
    func `each fault of a declaration is reported with its line`(yaml: String, line: Int, words: String) throws {
        let faults = try fixture.faults("modes: [fetch]\n" + yaml)
        #expect(faults.count == 1, "\(faults)")
        #expect(faults[0].hasPrefix("config.yaml:\(line + 1): \(words)"), "\(faults)")
    }

    @Test func `the faults of several declarations are reported together with those of keys`() throws {
        let faults = try fixture.faults(
            """
            modes: [fetch]
            log: {level: loud}
            fetch:
              sources:
                a: {exec: ls, interval: 1s}
                b: {exec: ls}
                b: {exec: ls}
                c: {url: "https://h/", kind: x}
            tasks:
              hooks:
                d: {}
            """
        )
        #expect(
            faults.map { $0.replacing(/: .*/, with: "") } == [
                "config.yaml:2", "config.yaml:5", "config.yaml:7", "config.yaml:8", "config.yaml:11",
            ],
            "\(faults)"
        )
    }
}
