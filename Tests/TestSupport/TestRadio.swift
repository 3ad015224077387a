/// A live stream on a ``TestWebServer``: endless MP3, with titles between the bytes if the client asks for them.
///
///     let radio = TestRadio(sound: mp3, interval: 333, titles: ["First", "Second"])
///     server.on("/live", radio.script)
package final class TestRadio: Sendable {
    private let sound: [UInt8]
    private let interval: Int
    private let titles: [String]
    /// Bytes of sound per title.
    private let titleSize: Int
    /// Bytes of sound after which a connection ends; nil for none.
    private let cut: Int?
    private let rate: Int

    /// - Parameters:
    ///   - sound: Repeated without end.
    ///   - interval: The bytes between blocks of metadata.
    ///   - rate: Bytes per second, after a first burst of 256 KiB.
    package init(
        sound: [UInt8],
        interval: Int,
        titles: [String] = [],
        titleSize: Int = 64_000,
        cut: Int? = nil,
        rate: Int = 64_000
    ) {
        self.sound = sound
        self.interval = interval
        self.titles = titles
        self.titleSize = titleSize
        self.cut = cut
        self.rate = rate
    }

    package var script: TestWebServer.Script {
        { [self] request, connection in
            let wantsTitles = request.headers["icy-metadata"] == "1"
            var headers = ["Content-Type": "audio/mpeg", "icy-name": "Radio Löwe", "Connection": "close"]
            if wantsTitles { headers["icy-metaint"] = "\(interval)" }
            try connection.sendHead(200, headers)
            var sent = 0
            var shown: String?
            var waiting: [UInt8] = []
            while sent < cut ?? .max {
                let count = min(interval, (cut ?? .max) - sent)
                waiting += (sent..<sent + count).map { sound[$0 % sound.count] }
                sent += count
                if wantsTitles, count == interval {
                    let title = titles.isEmpty ? nil : titles[min(sent / titleSize, titles.count - 1)]
                    waiting += title == shown ? [0] : Self.block(title ?? "")
                    shown = title
                }
                guard waiting.count >= 1 << 12 || sent == cut else { continue }
                if sent < 1 << 18 {
                    try connection.send(waiting)
                } else {
                    try connection.send(waiting, bytesPerSecond: rate)
                }
                waiting = []
            }
            connection.close()
        }
    }

    private static func block(_ title: String) -> [UInt8] {
        let text = Array("StreamTitle='\(title)';StreamUrl='';".utf8)
        let units = (text.count + 15) / 16
        return [UInt8(units)] + text + [UInt8](repeating: 0, count: units * 16 - text.count)
    }
}
