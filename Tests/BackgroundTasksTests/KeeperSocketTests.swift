import Foundation
import SystemSupport
import Testing

@testable import ChildProcesses

/// The last message of a keeper before it exits.
@Suite struct KeeperSocketTests {
    @Test func `the last message arrives even if its sender leaves with unread input`() async throws {
        for _ in 0..<200 {
            let pairs = (0..<100).map { _ in
                var ends: [CInt] = [-1, -1]
                _ = socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends)
                // Leaving with this message unread causes an error on our end at any time afterwards.
                KeeperSocket.send(.kill, on: ends[0])
                return (ours: ends[0], its: ends[1])
            }
            async let leaving: Void = blocking(onThread: "test") {
                for pair in pairs {
                    KeeperSocket.send(.terminate, on: pair.its)
                    close(pair.its)
                }
            }
            let heard = await blocking(onThread: "test") {
                pairs.map { pair in
                    defer { close(pair.ours) }
                    return KeeperSocket.receiveCommand(on: pair.ours) != nil
                }
            }
            await leaving
            try #require(heard.count { $0 } == pairs.count)
        }
    }
}
