import BackgrounderAPI
import Foundation
import SystemSupport
import Testing

@testable import BackgrounderCommands

/// The pictures of the live view, compared with the files in `Screens`. `UPDATE_SCREENS=1` writes these files; read them
/// before you commit them.
@Suite struct LiveScreenTests {
    private static let sizes = [(60, 20), (80, 24), (200, 50)]
    private static let charsets: [Charset] = [.unicode, .ascii]

    @Test(arguments: sizes, charsets)
    func `all panels look right`(size: (columns: Int, rows: Int), charset: Charset) throws {
        try compare("panels", ViewState(), size, charset)
    }

    @Test(arguments: ["?", "1", "2", "5", "l"], charsets)
    func `the help and a panel that fills the screen look right`(key: Character, charset: Charset) throws {
        var view = ViewState()
        _ = view.press(.character(key), in: LiveSample.state())
        try compare("key-\(key == "?" ? "help" : String(key))", view, (60, 20), charset)
    }

    private func compare(
        _ name: String,
        _ view: ViewState,
        _ size: (columns: Int, rows: Int),
        _ charset: Charset
    ) throws {
        let lines = LiveSample.lines(
            LiveSample.state(),
            view,
            columns: size.columns,
            rows: size.rows,
            charset: charset
        )
        #expect(lines.count == size.rows)
        for line in lines { #expect(line.terminalColumns == size.columns, "\(line)") }
        let text = lines.map { line in line.trimmingSuffix(" ") + "\n" }.joined()
        let file = URL(fileURLWithPath: "\(#filePath)/../Screens/\(name)-\(size.columns)x\(size.rows)-\(charset).txt")
            .standardizedFileURL
        if ProcessInfo.processInfo.environment["UPDATE_SCREENS"] == "1" { try Data(text.utf8).write(to: file) }
        #expect(text == String(decoding: try Data(contentsOf: file), as: UTF8.self), "\(text)")
    }

    @Test func `every size and layout fills the terminal exactly, in ASCII with ASCII only`() {
        let state = LiveSample.state()
        let keys: [Key?] = [nil] + "?123456".map { .character($0) }
        for (columns, rows) in [
            (1, 1), (20, 5), (27, 7), (28, 7), (28, 100), (40, 12), (59, 13), (60, 20), (71, 24), (72, 24), (80, 24),
            (131, 31),
            (132, 32), (132, 7), (200, 50), (400, 100),
        ] {
            for (key, charset) in keys.flatMap({ key in Self.charsets.map { (key, $0) } }) {
                var view = ViewState()
                if let key { _ = view.press(key, in: state) }
                let lines = LiveSample.lines(state, view, columns: columns, rows: rows, charset: charset)
                #expect(lines.count == rows, "\(columns)x\(rows)")
                for line in lines { #expect(line.terminalColumns == columns, "\(columns)x\(rows) \(line)") }
                if charset == .ascii { #expect(lines.joined().utf8.allSatisfy { (0x20...0x7E).contains($0) }) }
            }
        }
    }

    @Test func `on a terminal the selected item is in reverse video`() {
        let state = LiveSample.state()
        var view = ViewState()
        _ = view.press(.down, in: state)
        for key: Key? in [nil, .character("1"), .character("2")] {
            if let key { _ = view.press(key, in: state) }
            var screen = LiveScreen(state: state, view: view, columns: 80, rows: 24, charset: .unicode)
            let plain = screen.lines()
            screen.isStyled = true
            let styled = screen.lines()
            let reversed = styled.filter { $0.contains("\u{1B}") }
            #expect(reversed.count == (key == .character("2") ? 0 : 1))
            for line in reversed { #expect(line.hasPrefix("│\u{1B}[7m ›  3. An artist")) }
            #expect(styled.map { $0.replacing("\u{1B}[7m", with: "").replacing("\u{1B}[0m", with: "") } == plain)
        }
    }

    @Test func `a terminal that is too small says in one line what is needed`() {
        let lines = LiveSample.lines(LiveSample.state(), ViewState(), columns: 20, rows: 5)
        #expect(lines == ["needs 28x7, q quits "] + Array(repeating: String(repeating: " ", count: 20), count: 4))
    }

    @Test func `the log says why it cannot be read, and is empty at first`() {
        var state = LiveSample.state()
        var view = ViewState()
        _ = view.press(.character("l"), in: state)
        state.append(
            .failure(CommandFailure("cannot open /x/backgrounder.log: permission denied; check the file's mode"))
        )
        #expect(
            LiveSample.lines(state, view)[2].hasPrefix("│ cannot open /x/backgrounder.log: permission denied; check")
        )
        var empty = LiveState()
        empty.apply(.state(StateSnapshot(status: state.status!, track: [], queue: [])))
        #expect(LiveSample.lines(empty, view)[2].hasPrefix("│ reading … "))
        empty.append(.success([]))
        #expect(LiveSample.lines(empty, view)[2].hasPrefix("│ no lines yet "))
    }

    @Test func `the log keeps a bounded number of lines, and shows the newest`() {
        var log = LogLines()
        for index in 0..<50 { log.append((0..<300).map { LogRecord(line: "\(index) \($0)") }) }
        #expect(log.records.count == LogLines.most)
        #expect(log.records.last?.message == "49 299")
    }

    @Test func `the trip comes with the status, and without one the panel says so`() {
        var state = LiveSample.state()
        var location = state.status!.location!
        location.trip = TripProgress(
            start: LiveSample.now.addingTimeInterval(-86_400),
            distance: 12,
            duration: 5,
            points: 1
        )
        state.apply(location)
        var text = LiveSample.lines(state, ViewState()).joined(separator: "\n")
        #expect(text.contains("│ trip 0.01 km in 0:05 "))
        #expect(text.contains("│ 1 point since 2025-11-20 06:55 "))
        location.trip = nil
        state.apply(location)
        text = LiveSample.lines(state, ViewState()).joined(separator: "\n")
        #expect(text.contains("│ no trip in progress "))
    }
}

extension String {
    fileprivate func trimmingSuffix(_ character: Character) -> String {
        var text = self
        while text.last == character { text.removeLast() }
        return text
    }
}
