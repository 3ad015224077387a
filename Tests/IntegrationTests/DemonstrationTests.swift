import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// `make run` without a terminal or input, as in a script.
@Suite(.sharing) struct DemonstrationTests {
    @Test func `the demonstration shows both modes, runs twice, and its closing commands work`() async throws {
        let checkout = try ScratchDirectory()
        for folder in ["tracks", "media"] {
            try FileManager.default.createSymbolicLink(
                atPath: checkout.file(folder),
                withDestinationPath: Products.repository(folder)
            )
        }
        // Used only for its environment.
        let service = try Service(TestConfiguration())
        let environment = service.environment.filter { $0.key != "BACKGROUNDER_HOME" }
        let (products, home) = (Products.folderOfPrograms, checkout.file("run"))
        let paths = RuntimePaths(home: home, environment: [:], userID: 0)
        func shell(_ command: String, within seconds: Double = 40) async throws -> ProgramRun {
            try await ProgramRun.of(Programs.shell, ["-c", command], environment: environment, within: seconds)
        }
        let script = Products.repository("Packaging/demo.sh")
        defer { if let pid = InstanceRecord.read(paths.instance)?.pid { kill(pid, SIGKILL) } }

        let first = try await shell("'\(script)' '\(products)' '\(home)'")
        #expect(first.exitCode == 0, "\(first)")
        #expect(first.errors.isEmpty, "\(first)")
        let pid = try #require(InstanceRecord.read(paths.instance)?.pid)
        let text = first.text
        #expect(text.contains("started, pid \(pid)"))
        let shown = [
            "location  ", "audio     ", "Harbour Chimes", "App is backgrounded. New location is <", "Background: ",
            "background since", "playing", "LATITUDE", "attach again", "gpsd://localhost:2947",
        ]
        for words in shown {
            #expect(text.localizedCaseInsensitiveContains(words), "no \(words.debugDescription) in \(text)")
        }
        #expect(!text.contains("\u{1B}"), "escape sequences without a terminal")

        let second = try await shell("'\(script)' '\(products)' '\(home)'")
        #expect(second.exitCode == 0, "\(second)")
        #expect(second.text.contains("already running, pid \(pid)"))

        let closing = text.split(separator: "\n").suffix(3).compactMap { line in
            line.firstRange(of: /:  +/).map { String(line[$0.upperBound...]) }
        }
        try #require(closing.count == 3, "\(text)")
        try await attach(by: closing[0], environment: environment)
        let receiver = try await shell(closing[1])
        #expect(receiver.exitCode == 0, "\(receiver)")
        let status = try await shell("'\(products)/backgrounder' --home '\(home)' location --format json")
        let location = try JSON.decode(LocationStatus.self, from: status.output)
        #expect(location.source == "gpsd://localhost:2947")
        let stop = try await shell(closing[2])
        #expect(stop.exitCode == 0, "\(stop)")
        #expect(stop.text.hasPrefix("stopped, pid"), "\(stop)")

        for _ in 0..<2 {
            let clean = try await shell("'\(script)' --clean '\(products)' '\(home)'")
            #expect(clean.exitCode == 0, "\(clean)")
            #expect(!FileManager.default.fileExists(atPath: home))
        }
    }

    /// Attaches until a location is shown, then detaches with SIGINT.
    private func attach(by command: String, environment: [String: String]) async throws {
        let output = try PipeEnds()
        let attached = try ForegroundProcess(
            Programs.shell,
            ["-c", "exec \(command)"],
            environment: environment,
            descriptors: [1: output.writeEnd]
        )
        close(output.writeEnd)
        let lines = LineReader(output.readEnd)
        try await lines.wait(for: "a location") { lines, _ in
            lines.contains { $0.hasPrefix("location  ") } ? true : nil
        }
        attached.kill(SIGINT)
        #expect(try await attached.waitForEnd() == 0)
    }

    @Test func `cleaning up a running demonstration stops it first`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        let script = Products.repository("Packaging/demo.sh")
        let run = try await ProgramRun.of(
            script,
            ["--clean", Products.folderOfPrograms, service.home],
            environment: service.environment
        )
        #expect(run.exitCode == 0, "\(run)")
        #expect(run.text.hasPrefix("stopped, pid"), "\(run)")
        #expect(!FileManager.default.fileExists(atPath: service.home))
    }
}

extension Products {
    /// The folder of both programs.
    static var folderOfPrograms: String { URL(fileURLWithPath: backgrounder).deletingLastPathComponent().path }
}
