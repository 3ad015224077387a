import BackgrounderAPI
import FoundationEssentials
import Testing

@testable import BackgrounderCommands

@Suite struct ViewStateTests {
    private let state = LiveSample.state()

    @Test(arguments: [
        (Key.character(" "), KeyRequest.toggle), (.character("n"), .next), (.character("p"), .previous),
        (.left, .seek(by: -10)), (.right, .seek(by: 10)), (.character(","), .seek(by: -10)),
        (.character("."), .seek(by: 10)), (.character("+"), .volume(by: 5)), (.character("="), .volume(by: 5)),
        (.character("-"), .volume(by: -5)), (.enter, .play(12)), (.delete, .remove(12)), (.character("d"), .remove(12)),
        (.character("K"), .move(12, by: -1)), (.character("J"), .move(12, by: 1)),
    ])
    func `a key of the player sends its request`(key: Key, request: KeyRequest) {
        var view = ViewState()
        #expect(view.press(key, in: state) == .request(request))
        #expect(view.layout == .allPanels)
    }

    @Test(arguments: [
        (Key.down, 13), (.character("j"), 13), (.up, 11), (.character("k"), 11), (.pageDown, 14), (.pageUp, 11),
    ])
    func `arrows and letters select an item of the queue`(key: Key, id: Int) {
        var view = ViewState()
        #expect(view.press(key, in: state) == .none)
        #expect(view.cursor.selected(in: state)?.id == id)
        #expect(view.press(.enter, in: state) == .request(.play(id)))
    }

    @Test func `two quick removals remove two items`() {
        var view = ViewState()
        #expect(view.press(.character("d"), in: state) == .request(.remove(12)))
        #expect(view.press(.character("d"), in: state) == .request(.remove(13)))
    }

    @Test func `a moved item stays selected`() {
        var view = ViewState()
        var state = state
        _ = view.press(.character("J"), in: state)
        state.apply(.currentItem(CurrentItem(item: state.queue[3])))
        view.cursor.follow(state)
        #expect(view.cursor.selected(in: state)?.id == 12)
    }

    @Test(arguments: zip("123456", LivePanel.allCases))
    func `a digit lets its panel fill the screen, and again shows all panels`(digit: Character, panel: LivePanel) {
        var view = ViewState()
        #expect(view.press(.character(digit), in: state) == .none)
        #expect(view.layout == .single(panel, scroll: 0))
        #expect(view.press(.character(digit), in: state) == .none)
        #expect(view.layout == .allPanels)
    }

    @Test func `tab, z and l choose the panel that fills the screen`() {
        var view = ViewState()
        for panel in LivePanel.allCases {
            _ = view.press(.tab, in: state)
            #expect(view.layout == .single(panel, scroll: 0))
        }
        _ = view.press(.tab, in: state)
        #expect(view.layout == .allPanels)
        _ = view.press(.character("z"), in: state)
        #expect(view.layout == .single(.log, scroll: 0), "z shows the panel that was shown last")
        _ = view.press(.character("l"), in: state)
        #expect(view.layout == .allPanels)
        _ = view.press(.character("3"), in: state)
        _ = view.press(.character("z"), in: state)
        #expect(view.layout == .allPanels)
        for ignored: Key in [.character("0"), .character("7"), .character("٣"), .character("x")] {
            #expect(view.press(ignored, in: state) == .none)
            #expect(view.layout == .allPanels)
        }
    }

    @Test func `any key closes the help and does nothing else`() {
        for key: Key in [.character("q"), .character(" "), .escape, .character("?"), .character("d")] {
            var view = ViewState()
            _ = view.press(.character("2"), in: state)
            #expect(view.press(.character("?"), in: state) == .none)
            #expect(view.layout == .help(.single(.location, scroll: 0)))
            #expect(view.press(key, in: state) == .none)
            #expect(view.layout == .single(.location, scroll: 0))
        }
    }

    @Test func `q detaches, and Esc goes back to all panels before it detaches`() {
        var view = ViewState()
        _ = view.press(.character("3"), in: state)
        #expect(view.press(.character("q"), in: state) == .quit)
        #expect(view.press(.escape, in: state) == .none)
        #expect(view.layout == .allPanels)
        #expect(view.press(.escape, in: state) == .quit)
    }

    @Test func `a panel that fills the screen is scrolled within its lines, and the hidden queue stays as it is`() {
        var view = ViewState()
        _ = view.press(.character("4"), in: state)
        _ = view.press(.down, in: state)
        #expect(view.layout == .single(.fetch, scroll: 1))
        _ = view.press(.pageDown, in: state)
        #expect(view.layout == .single(.fetch, scroll: 2), "beyond the last of three sources")
        _ = view.press(.pageUp, in: state)
        #expect(view.layout == .single(.fetch, scroll: 0))
        for key: Key in [.enter, .delete, .character("d"), .character("K"), .character("J")] {
            #expect(view.press(key, in: state) == .none)
        }
        #expect(view.cursor.selected(in: state)?.id == 12)
        _ = view.press(.character("l"), in: state)
        _ = view.press(.up, in: state)
        #expect(view.layout == .single(.log, scroll: 1), "up shows older lines")
    }

    @Test func `a refusal and an alert are shown until the next key`() {
        var view = ViewState()
        var state = state
        state.apply(.alert(PushAlert(source: "news", id: "a", text: "Storm")))
        #expect(LiveSample.lines(state, view).last?.hasPrefix("news: Storm") == true)
        view.refuse("the queue is empty; add items")
        #expect(LiveSample.lines(state, view).last?.hasPrefix("! the queue is empty; add items") == true)
        _ = view.press(.down, in: state)
        #expect(LiveSample.lines(state, view).last?.hasPrefix("space play/pause") == true)
    }
}
