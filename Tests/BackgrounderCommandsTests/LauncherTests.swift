import Foundation
import TestSupport
import Testing

@testable import BackgrounderCommands

@Suite struct LauncherTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    @Test func `waiting for a lock that stays held ends at the deadline`() async throws {
        let path = try scratch.write("", to: "lock")
        let holder = open(path, O_RDWR | O_CLOEXEC)
        defer { close(holder) }
        #expect(flock(holder, LOCK_EX) == 0)
        let began = ContinuousClock.now
        #expect(await !Launcher.waitForEnd(lock: path, seconds: 1))
        let took = ContinuousClock.now - began
        #expect(took >= .seconds(1), "\(took)")
        #expect(took < .seconds(60), "\(took)")
    }

    @Test func `waiting ends as soon as the lock is free, and immediately without a lock file`() async throws {
        let path = try scratch.write("", to: "lock")
        let holder = open(path, O_RDWR | O_CLOEXEC)
        #expect(flock(holder, LOCK_EX) == 0)
        async let ended = Launcher.waitForEnd(lock: path, seconds: 30)
        close(holder)
        #expect(await ended)
        #expect(await Launcher.waitForEnd(lock: scratch.file("none"), seconds: 30))
    }
}
