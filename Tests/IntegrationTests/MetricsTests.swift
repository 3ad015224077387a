import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// The metrics of the service, read by Prometheus.
@Suite(.sharing) struct MetricsTests {
    private func metrics(_ service: Service) async throws -> String {
        let arguments = ["-sSf", "--unix-socket", service.paths.controlSocket, "http://localhost\(Routes.metricsPath)"]
        return try await ProgramRun.of(Programs.curl, arguments).text
    }

    /// Returns the lines with values of one metric.
    private func values(_ name: String, in text: String) -> [Substring] {
        text.split(separator: "\n").filter {
            $0.hasPrefix(name) && $0.dropFirst(name.count).first.map("{ ".contains) == true
        }
    }

    private func eventually(_ what: String, _ isTrue: () async throws -> Bool) async throws {
        // Tuned: two intervals of the file, for a busy machine.
        for _ in 0..<150 {
            if try await isTrue() { return }
            try await Task.sleep(for: .milliseconds(200))
        }
        Issue.record("\(what) did not come")
    }

    @Test func `promtool accepts the metrics, and they count what happens`() async throws {
        let server = try TestWebServer()
        server.reply(to: "/sky", body: String(repeating: "7", count: 70_000))
        let service = try Service(TestConfiguration(modes: "[audio, location, fetch]"))
        try await service.start()
        try await service.run("fetch", "add", "sky", "--url", server.url("/sky"), "--kind", "raw")
        let before = try await metrics(service)
        #expect(values("backgrounder_fetch_runs_total", in: before).allSatisfy { $0.hasSuffix(" 0") })
        #expect(values("backgrounder_transfer_bytes_total", in: before).allSatisfy { $0.hasSuffix(" 0") })
        try await service.run("fetch", "run", "sky")
        try await service.run("queue", "add", Products.repository("media/quiet-waltz.mp3"))
        let file = service.scratch.file("downloads/sky")
        try await service.run("transfer", "get", server.url("/sky"), file, "--wait")
        let events = try service.events()
        try await events.wait(for: "5 points") { $0.count("location") >= 5 ? true : nil }

        let text = try await metrics(service)
        let promtool = try await ProgramRun.of(
            "/bin/sh",
            ["-c", "printf %s \"$0\" | promtool check metrics 2>&1", text]
        )
        #expect(promtool.text == "")
        #expect(promtool.exitCode == 0)
        #expect(
            values("backgrounder_build_info", in: text) == [
                #"backgrounder_build_info{version="\#(Backgrounder.version)"} 1"#
            ]
        )
        #expect(values("backgrounder_queue_items", in: text) == ["backgrounder_queue_items 1"])
        #expect(text.contains(#"backgrounder_fetch_runs_total{source="sky",result="newData"} 1\#n"#))
        #expect(text.contains(#"backgrounder_transfer_bytes_total{direction="download"} 70000\#n"#))
        let fixes = values("backgrounder_fixes_total", in: text)
        #expect(fixes.count == 1 + RejectionReason.allCases.count)
        let accepted = fixes.first { $0.contains("accepted") }?.split(separator: " ").last.flatMap { Int($0) }
        #expect(try #require(accepted) >= 5)
        for (name, range) in [
            ("process_resident_memory_bytes", 1e6...1e9), ("process_cpu_seconds_total", 0.001...60),
            ("process_open_fds", 5...500), ("backgrounder_database_bytes", 1e4...1e8),
            ("backgrounder_fix_age_seconds", 0...1e10), ("backgrounder_audio_underruns_total", 0...0),
        ] as [(String, ClosedRange<Double>)] {
            let value = try #require(
                values(name, in: text).first?.split(separator: " ").last.flatMap { Double($0) },
                "\(name)"
            )
            #expect(range.contains(value), "\(name) \(value)")
        }
    }

    @Test func `the node exporter reads the file, and Prometheus stores what changes`() async throws {
        let scratch = try ScratchDirectory()
        let service = try Service(TestConfiguration(rest: ["metrics: {textfile: \(scratch.path)/backgrounder.prom}"]))
        try await service.start()
        let exporter = try freePort(SOCK_STREAM)
        let node = try Tool.start(
            "prometheus-node-exporter",
            "--collector.disable-defaults",
            "--collector.textfile",
            "--collector.textfile.directory=\(scratch.path)",
            "--web.listen-address=127.0.0.1:\(exporter)"
        )
        defer { node.kill() }
        let (port, folder) = (try freePort(SOCK_STREAM), try ScratchDirectory())
        try folder.write(
            """
            global: {scrape_interval: 500ms, scrape_timeout: 500ms}
            scrape_configs: [{job_name: bus, static_configs: [{targets: ["127.0.0.1:\(exporter)"]}]}]
            """,
            to: "prometheus.yml"
        )
        let prometheus = try Tool.start(
            "prometheus",
            "--config.file=\(folder.file("prometheus.yml"))",
            "--storage.tsdb.path=\(folder.file("data"))",
            "--web.listen-address=127.0.0.1:\(port)",
            "--log.level=error"
        )
        defer { prometheus.kill() }
        func ask(_ query: String) async throws -> String? {
            let arguments = ["-sG", "http://127.0.0.1:\(port)/api/v1/query", "--data-urlencode", "query=\(query)"]
            let run = try await ProgramRun.of(Programs.curl, arguments)
            let reply = try? JSON.decode(JSONValue.self, from: run.output)
            return reply?["data"]?["result"]?.array?.first?["value"]?.array?.last?.string
        }
        try await eventually("the queue in Prometheus") { try await ask("backgrounder_queue_items") == "0" }
        try await service.run("queue", "add", Products.repository("media/quiet-waltz.mp3"))
        // A change is written at the latest after 15 s.
        try await eventually("the longer queue") { try await ask("backgrounder_queue_items") == "1" }
        #expect(try await ask("sum(backgrounder_fixes_total)").flatMap(Double.init) ?? 0 > 0)
        #expect(try await ask("node_textfile_scrape_error") == "0")
        let file = scratch.file("backgrounder.prom")
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o644)
        try await service.run("stop")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
    }

    @Test func `a file that cannot be written is logged once, and written as soon as it can be`() async throws {
        let service = try Service(TestConfiguration(rest: ["metrics: {textfile: later/backgrounder.prom}"]))
        try await service.start()
        func lines() -> [String] { service.logLines().filter { $0.contains("Cannot write the metrics") } }
        try await eventually("the warning") { !lines().isEmpty }
        #expect(
            lines().first?.hasSuffix(
                "/later/backgrounder.prom: No such file or directory; retrying with the next change"
            ) == true
        )
        try FileManager.default.createDirectory(
            atPath: service.scratch.file("later"),
            withIntermediateDirectories: true
        )
        try await eventually("the file") {
            FileManager.default.fileExists(atPath: service.scratch.file("later/backgrounder.prom"))
        }
        #expect(lines().count == 1)
    }
}
