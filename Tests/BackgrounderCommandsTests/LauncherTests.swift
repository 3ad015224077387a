import Foundation
import TestSupport
import Testing

@testable import BackgrounderCommands

@Suite struct LauncherTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    @Test func `A holder that does not end is waited for until the deadline and no longer`() async throws {
        let path = try scratch.write("", to: "lock")
        let holder = open(path, O_RDWR | O_CLOEXEC)
        defer { close(holder) }
        #expect(flock(holder, LOCK_EX) == 0)
        let began = ContinuousClock.now
        #expect(await !Launcher.waitForEnd(lock: path, seconds: 1))
        let took = ContinuousClock.now - began
        #expect(took >= .seconds(1) && took < .seconds(20), "\(took)")
    }

    @Test func `The wait is over as soon as the lock is free, and where there is none`() async throws {
        let path = try scratch.write("", to: "lock")
        let holder = open(path, O_RDWR | O_CLOEXEC)
        #expect(flock(holder, LOCK_EX) == 0)
        async let ended = Launcher.waitForEnd(lock: path, seconds: 30)
        close(holder)
        #expect(await ended)
        #expect(await Launcher.waitForEnd(lock: scratch.file("none"), seconds: 30))
    }
}
