import ArgumentParser
import Testing

@testable import BackgrounderCommands

/// Arguments of `audio` and `queue` that are easily mistaken for something else.
struct AudioArgumentsTests {
    @Test func `an empty name is refused and does not mean the current folder`() throws {
        #expect(throws: (any Error).self) { try AudioCommand.Play.parse([""]) }
        #expect(throws: (any Error).self) { try QueueCommand.Add.parse(["a.wav", ""]) }
        #expect(throws: (any Error).self) { try QueueCommand.Insert.parse([""]) }
        #expect(try QueueCommand.Add.parse(["a.wav", "."]).items == ["a.wav", "."])
    }

    @Test(
        arguments: [
            ([], .current), (["5"], .level(5)), (["100"], .level(100)), (["+5"], .change(5)), (["-5"], .change(-5)),
            (["--", "-5"], .change(-5)), (["--", "5"], .level(5)), (["-5", "--format", "json"], .change(-5)),
        ] as [([String], AudioCommand.Volume.Request)]
    )
    func `a volume with a sign is a change, also after the end of the options`(
        arguments: [String],
        request: AudioCommand.Volume.Request
    ) throws {
        #expect(try AudioCommand.Volume.parse(arguments).request == request)
    }

    @Test(arguments: [["101"], ["+101"], ["-101"], ["5", "6"], ["loud"], ["+"], ["--", "-5", "5"], ["--loud"]])
    func `a volume that is not a number in range is refused`(arguments: [String]) {
        #expect(throws: (any Error).self) { try AudioCommand.Volume.parse(arguments) }
    }

    @Test func `a position may follow the end of the options`() throws {
        #expect(try AudioCommand.Seek.parse(["--", "-10"]).time.withoutTerminator == ["-10"])
        #expect(try AudioCommand.Seek.parse(["-10"]).time.withoutTerminator == ["-10"])
    }

    @Test func `a priority may be negative`() throws {
        #expect(try InterruptCommand.parse(["a.wav", "--priority", "-5"]).priority == -5)
        #expect(try InterruptCommand.parse(["a.wav"]).priority == 0)
    }
}
