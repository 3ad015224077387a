import NIOCore
import NIOEmbedded

@testable import MPDServer

/// Splits a client's bytes into lines, parses their commands, and reads each argument as every type.
enum MPDTarget {
    static func run(_ bytes: [UInt8]) {
        let limits = MPDLimits()
        let channel = EmbeddedChannel(handler: ByteToMessageHandler(MPDLineDecoder(limit: limits.line)))
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        // In two parts, as a network may deliver it.
        let middle = bytes.count / 2
        for part in [bytes[..<middle], bytes[middle...]] {
            do { try channel.writeInbound(ByteBuffer(bytes: part)) } catch { preconditionFailure("\(error)") }
        }
        while let line = try? channel.readInbound(as: MPDLine.self) {
            guard case .text(let text) = line else { break }
            precondition(text.utf8.count <= 3 * limits.line)
            read(text)
        }
    }

    private static func read(_ line: String) {
        do throws(MPDError) {
            let parsed = try MPDCommandLine(line)
            precondition(!parsed.arguments.contains { $0.utf8.contains(0) })
            try MPDCommand.all[parsed.name]?.check(parsed.arguments.count)
            let arguments = MPDArguments(parsed.arguments)
            for index in 0..<arguments.count {
                _ = try? arguments.integer(index)
                _ = try? arguments.boolean(index)
                if let time = try? arguments.time(index) { precondition(time >= 0) }
                if let clipped = try? arguments.range(index).clipped(to: 100) {
                    precondition(clipped.upperBound <= 100)
                }
            }
            for isCaseSensitive in [true, false] {
                for first in 0...min(2, arguments.count) {
                    var parser = MPDFilterParser(isCaseSensitive: isCaseSensitive)
                    _ = try? parser.parse(arguments.dropFirst(first))
                }
            }
        } catch {
            let answer = error.line(command: "", index: 0)
            precondition(answer.hasPrefix("ACK [") && answer.last == "\n")
        }
    }
}
