/// The readers of external input, each with checks of its result.
///
/// They run in two ways: under libFuzzer with the address sanitizer (`make fuzz`), and for a short time as a test.
enum FuzzTarget: String, CaseIterable {
    /// Lines of gpsd.
    case gpsd
    case gpx
    /// Audio files.
    case decoders
    case feeds
    /// Requests to the control socket.
    case http
    /// Lines of MPD clients.
    case mpd
    /// Packets of a broker.
    case mqtt
    /// Pages of a damaged database.
    case pages
    /// Files of places and routes.
    case places

    /// Reads `bytes` on the caller's thread. It must return soon for any input; a wrong result ends the process.
    func run(_ bytes: [UInt8]) {
        switch self {
        case .gpsd: LocationTarget.readLog(bytes)
        case .gpx: LocationTarget.readTrack(bytes)
        case .decoders: DecoderTarget.run(bytes)
        case .feeds: FeedTarget.run(bytes)
        case .http: HTTPTarget.shared.run(bytes)
        case .mpd: MPDTarget.run(bytes)
        case .mqtt: MQTTTarget.shared.run(bytes)
        case .pages: PagesTarget.run(bytes)
        case .places: PlacesTarget.run(bytes)
        }
    }
}
