import Foundation
import Testing

@testable import ChildProcesses

/// What a keeper says as the last thing before it is gone.
@Suite struct KeeperSocketTests {
    @Test func `A last word is heard of who leaves without having read all`() async throws {
        for _ in 0..<200 {
            let pairs = (0..<100).map { _ in
                var ends: [CInt] = [-1, -1]
                _ = socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends)
                // It is not read: to leave with it is told of as an error, at any time from then on.
                KeeperSocket.send(.kill, on: ends[0])
                return (ours: ends[0], its: ends[1])
            }
            async let leaving: Void = blocking {
                for pair in pairs {
                    KeeperSocket.send(.terminate, on: pair.its)
                    close(pair.its)
                }
            }
            let heard = await blocking {
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
