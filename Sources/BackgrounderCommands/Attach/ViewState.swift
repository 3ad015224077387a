import BackgrounderAPI

/// The state of the live view that the keyboard changes: the panels on the screen, the selected item, and the help.
struct ViewState {
    enum Layout: Hashable {
        case allPanels
        /// One panel fills the screen; its list is moved by `scroll` lines.
        case single(LivePanel, scroll: Int)
        /// The list of keys, and the layout to which any key returns.
        indirect case help(Layout)
    }

    /// The effect of a key outside of the view.
    enum Effect: Hashable {
        case none, quit
        case request(KeyRequest)
    }

    private(set) var layout = Layout.allPanels
    /// Why the last request was refused; `nil` after the next key.
    private(set) var refusal: String?
    /// The alert that was on the screen at the last key.
    private(set) var seenAlert: PushAlert?
    var cursor = QueueCursor()
    /// The panel that `z` shows.
    private var lastPanel = LivePanel.audio

    /// Tuned: a screenful, with some lines of overlap on most screens.
    private static let pageLength = 10
    /// Seconds.
    private static let seekStep = 10.0
    /// Per cent.
    private static let volumeStep = 5

    mutating func refuse(_ reason: String) { refusal = reason }

    /// Handles a key, and returns what it does outside of the view.
    mutating func press(_ key: Key, in state: LiveState) -> Effect {
        (refusal, seenAlert) = (nil, state.alert)
        if case .help(let layout) = layout {
            self.layout = layout
            return .none
        }
        switch key {
        case .character("q"): return .quit
        case .escape:
            guard layout != .allPanels else { return .quit }
            layout = .allPanels
        case .character("?"), .character("h"): layout = .help(layout)
        case .character("l"): toggle(.log)
        case .character("z"): toggle(singlePanel ?? lastPanel)
        case .tab: show(LivePanel(rawValue: (singlePanel?.rawValue ?? 0) + 1))
        case .character(let digit) where digit.isASCII && digit.isNumber:
            if let panel = digit.wholeNumberValue.flatMap(LivePanel.init) { toggle(panel) }
        case .character(" "): return .request(.toggle)
        case .character("n"): return .request(.next)
        case .character("p"): return .request(.previous)
        case .left, .character(","): return .request(.seek(by: -Self.seekStep))
        case .right, .character("."): return .request(.seek(by: Self.seekStep))
        case .character("+"), .character("="): return .request(.volume(by: Self.volumeStep))
        case .character("-"): return .request(.volume(by: -Self.volumeStep))
        default: return pressInList(key, state)
        }
        return .none
    }

    /// Handles the keys of the list on the screen: the queue, or the lines of a panel that fills the screen.
    private mutating func pressInList(_ key: Key, _ state: LiveState) -> Effect {
        switch key {
        case .up, .character("k"): move(by: -1, in: state)
        case .down, .character("j"): move(by: 1, in: state)
        case .pageUp: move(by: -Self.pageLength, in: state)
        case .pageDown: move(by: Self.pageLength, in: state)
        default:
            guard isShowingQueue, let item = cursor.selected(in: state) else { return .none }
            switch key {
            case .enter: return .request(.play(item.id))
            case .delete, .character("d"):
                cursor.leaveSelected(in: state)
                return .request(.remove(item.id))
            case .character("K"): return moveItem(item.id, by: -1, in: state)
            case .character("J"): return moveItem(item.id, by: 1, in: state)
            default: break
            }
        }
        return .none
    }

    /// Moves an item, which stays selected.
    private mutating func moveItem(_ id: Int, by distance: Int, in state: LiveState) -> Effect {
        cursor.step(0, in: state)
        return .request(.move(id, by: distance))
    }

    private mutating func move(by distance: Int, in state: LiveState) {
        guard case .single(let panel, let scroll) = layout, panel != .audio else {
            return cursor.step(distance, in: state)
        }
        // The log shows its end, so that its lines move the other way.
        let change = panel == .log ? -distance : distance
        layout = .single(panel, scroll: max(0, min(state.count(of: panel) - 1, scroll + change)))
    }

    private var isShowingQueue: Bool {
        switch layout {
        case .allPanels, .single(.audio, _): true
        case .single, .help: false
        }
    }

    private var singlePanel: LivePanel? {
        if case .single(let panel, _) = layout { panel } else { nil }
    }

    /// Lets `panel` fill the screen, or shows all panels again if it does.
    private mutating func toggle(_ panel: LivePanel) {
        show(singlePanel == panel ? nil : panel)
    }

    private mutating func show(_ panel: LivePanel?) {
        layout = panel.map { .single($0, scroll: 0) } ?? .allPanels
        if let panel { lastPanel = panel }
    }
}

extension LiveState {
    /// The number of lines of a panel that can be scrolled.
    fileprivate func count(of panel: LivePanel) -> Int {
        switch panel {
        case .audio, .location: 0
        case .tasks: (status?.tasks?.count ?? 0) + endedTasks.count
        case .fetch: status?.fetch?.count ?? 0
        case .transfers: (status?.transfers?.count ?? 0) + endedTransfers.count
        case .log: log.records.count
        }
    }
}
