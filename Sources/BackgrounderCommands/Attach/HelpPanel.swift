import SystemSupport

/// The list of keys of the live view.
enum HelpPanel {
    private static let keys = [
        ("space", "play or pause"),
        ("n  p", "next item, previous item"),
        ("left right", "seek 10 s back or ahead; also , and ."),
        ("+  -", "volume up or down by 5"),
        ("up down", "select an item of the queue; also k and j"),
        ("enter", "play the selected item"),
        ("d", "remove the selected item; also Delete"),
        ("K  J", "move the selected item up or down"),
        ("1 to 6", "one panel: audio, location, tasks, fetch,"),
        ("", "transfers, log; again for all panels"),
        ("tab", "the next panel"),
        ("z", "one panel or all"),
        ("l", "the log of the service"),
        ("?", "this help"),
        ("q", "detach; the service continues"),
        ("Esc", "all panels; there, detach"),
    ]

    static let lines = keys.map { key, meaning in key.fitted(to: 12) + meaning }
}
