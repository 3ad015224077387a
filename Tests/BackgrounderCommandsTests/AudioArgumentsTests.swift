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

    @Test func `a volume with a sign is refused`() throws {
        #expect(throws: (any Error).self) { try AudioCommand.Volume.parse(["+5"]) }
        #expect(throws: (any Error).self) { try AudioCommand.Volume.parse(["-5"]) }
        #expect(try AudioCommand.Volume.parse(["5"]).volume == ["5"])
    }

    @Test func `a priority may be negative`() throws {
        #expect(try InterruptCommand.parse(["a.wav", "--priority", "-5"]).priority == -5)
        #expect(try InterruptCommand.parse(["a.wav"]).priority == 0)
    }
}
