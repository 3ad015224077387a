import AudioPlayback
import BackgrounderAPI
import LocationUpdates
import Logging
import MPDServer
import MediaFiles
import SystemSupport
import WebSupport

/// Every key of `config.yaml`, with its default.
enum Keys {
    static let modes = ConfigurationKey<[BackgroundMode]>(
        list: "modes",
        [.audio, .location],
        allowed: BackgroundMode.allCases.map(\.rawValue).joined(separator: ", ")
    ) { text, _ in BackgroundMode(rawValue: text) }

    static let source = ConfigurationKey<LocationSource>(
        "location.source",
        .gpsd(GPSDAddress(host: "localhost")),
        allowed: LocationSourceError.allowed,
        explain: { text in
            do throws(LocationSourceError) {
                _ = try LocationSource(text.description, relativeTo: "/")
                return nil
            } catch {
                return error.description
            }
        }
    ) { text, directory in
        switch try? LocationSource(text, relativeTo: directory) {
        case .gpx(let file, let rate): .gpx(path: RuntimePaths.absolute(file), rate: rate)
        case .gpsdLog(let file, let rate): .gpsdLog(path: RuntimePaths.absolute(file), rate: rate)
        case let other: other
        }
    }

    static let usageDescription = ConfigurationKey<String?>(
        "location.usageDescription",
        nil,
        allowed: "a sentence that says why this machine is tracked"
    ) { text, _ in text.contains { !$0.isWhitespace } ? .some(text) : .none }

    static let desiredAccuracy = ConfigurationKey<DesiredAccuracy>(
        "location.desiredAccuracy",
        .best,
        allowed: DesiredAccuracy.allCases.map(\.rawValue).joined(separator: ", ")
    ) { text, _ in DesiredAccuracy(rawValue: text) }

    static let distanceFilter = ConfigurationKey<Double>(
        "location.distanceFilter",
        0,
        allowed: "0 to \(Metres.maximum) metres, or none"
    ) { text, _ in Metres.orNone(text).map { $0 ?? 0 } }

    static let maximumAccuracy = ConfigurationKey<Double?>(
        "location.maximumAccuracy",
        nil,
        allowed: "more than 0 and at most \(Metres.maximum) metres, or none"
    ) { text, _ in Metres.orNone(text).flatMap { $0 == 0 ? nil : .some($0) } }

    static let jitterGuard = ConfigurationKey<Bool>("location.jitterGuard", true, allowed: "true or false") { text, _ in
        boolean(text)
    }

    static let driver = ConfigurationKey<AudioDriverName>(
        "audio.driver",
        .auto,
        allowed: "auto, a libao driver such as pulse, alsa or pulse:SINK, null, wav:FILE or raw:FILE"
    ) { text, directory in
        switch try? AudioDriverName(text) {
        case .wav(let file): path(file, directory).map { .wav($0) }
        case .raw(let file): path(file, directory).map { .raw($0) }
        case let other: other
        }
    }

    static let queue = ConfigurationKey<[String]>(
        list: "audio.queue",
        [],
        allowed: "files, folders, playlists and addresses"
    ) {
        text,
        directory in
        StreamAddress.isAddress(text) ? text : path(text, directory)
    }

    static let autoplay = ConfigurationKey<Bool>("audio.autoplay", true, allowed: "true or false") { text, _ in
        boolean(text)
    }

    static let latency = ConfigurationKey<Duration>(
        "audio.latency",
        .milliseconds(300),
        allowed: "a duration from 20ms to 2s"
    ) {
        text,
        _ in duration(text, in: .milliseconds(20)...(.seconds(2)))
    }

    static let format = ConfigurationKey<AudioFormat?>(
        "audio.format",
        nil,
        allowed: "RATE:16:CHANNELS with a rate from 1000 to 384000 and 1 to 8 channels, such as 48000:16:2, or none"
    ) { text, _ in text == "none" ? .some(nil) : AudioFormat(text).map { .some($0) } }

    static let observerInterval = ConfigurationKey<Duration>(
        "audio.observerInterval",
        .seconds(1),
        allowed: "a duration from 10ms to 60s"
    ) { text, _ in duration(text, in: .milliseconds(10)...(.seconds(60))) }

    static let musicDirectory = ConfigurationKey<String?>("audio.musicDirectory", nil, allowed: "a folder") {
        text,
        directory in
        path(text, directory).map { .some($0) }
    }

    static let mpdListen = ConfigurationKey<[ListenAddress]>(
        list: "mpd.listen",
        [],
        allowed: "addresses for MPD clients, HOST:PORT or [IPV6]:PORT, such as 127.0.0.1:6600"
    ) { text, _ in ListenAddress(text) }

    static let mpdPassword = ConfigurationKey<MPDPassword?>(
        "mpd.password",
        nil,
        allowed: "a password for MPD clients on TCP, one line of 1 to 1000 bytes",
        isSecret: true
    ) { text, _ in MPDPassword(text).map { .some($0) } }

    static let mpdPasswords = ConfigurationKey<[MPDPassword]>(
        list: "mpd.passwords",
        [],
        allowed:
            "PASSWORD@PERMISSIONS with \(MPDPermissions.names.joined(separator: ", ")), such as \"guest@read,add\"",
        isSecret: true
    ) { text, _ in MPDPassword(withPermissions: text) }

    static let mpdDefaultPermissions = ConfigurationKey<[MPDPermissions]?>(
        "mpd.defaultPermissions",
        optionalList: MPDPermissions.names.joined(separator: ", ")
    ) { text, _ in MPDPermissions(name: text) }

    static let webListen = ConfigurationKey<[ListenAddress]>(
        list: "web.listen",
        [],
        allowed: "addresses for browsers of a network, HOST:PORT or [IPV6]:PORT, such as 0.0.0.0:8443"
    ) { text, _ in ListenAddress(text) }

    static let webHosts = ConfigurationKey<[String]>(
        list: "web.hosts",
        [],
        allowed: "names or addresses of this machine without port, such as bus7.local or 192.168.4.1"
    ) { text, _ in PageHost.isValid(text) ? text.lowercased() : nil }

    static let webCertificate = ConfigurationKey<String?>(
        "web.tls.certificate",
        nil,
        allowed: "a PEM file with the certificate and those that lead to its authority"
    ) { text, directory in path(text, directory).map { .some($0) } }

    static let webKey = ConfigurationKey<String?>(
        "web.tls.key",
        nil,
        allowed: "a PEM file with the certificate's key"
    ) { text, directory in path(text, directory).map { .some($0) } }

    static let webMap = ConfigurationKey<String?>("web.map", nil, allowed: "an MBTiles file with images") {
        text,
        directory in
        path(text, directory).map { .some($0) }
    }

    static let webTiles = ConfigurationKey<TileAddress?>(
        "web.tiles",
        nil,
        allowed: "an http or https address with {z}, {x} and {y}, such as https://tile.example.org/{z}/{x}/{y}.png"
    ) { text, _ in TileAddress(text).map { .some($0) } }

    static let controlGroup = ConfigurationKey<String?>("control.group", nil, allowed: "the name of a group") {
        text,
        _ in
        text.isEmpty ? .none : .some(text)
    }

    static let controlExecute = ConfigurationKey<[String]>(
        list: "control.execute",
        [],
        allowed: "names of users and groups"
    ) { text, _ in text.isEmpty ? nil : text }

    static let taskEnvironment = ConfigurationKey<[EnvironmentVariable]>(
        list: "tasks.environment",
        [],
        allowed: "variables, each NAME or NAME=VALUE, where NAME is \(EnvironmentVariable.allowedNames)"
    ) { text, _ in EnvironmentVariable(text) }

    static let placeImports = ConfigurationKey<[String]>(list: "places.import", [], allowed: "files with places") {
        text,
        directory in
        path(text, directory)
    }

    static let speechVoice = ConfigurationKey<String?>(
        "speech.voice",
        nil,
        allowed: "a voice of espeak-ng such as en-gb or de, which `espeak-ng --voices` lists"
    ) { text, _ in
        let isVoice = (1...100).contains(text.utf8.count) && !text.hasPrefix("-") && !text.utf8.contains(0)
        return isVoice ? .some(text) : .none
    }

    static let speechSpeed = ConfigurationKey<Int?>("speech.speed", nil, allowed: "80 to 450 words per minute") {
        text,
        _ in
        Int(text).flatMap { (80...450).contains($0) ? .some($0) : .none }
    }

    static let speechCache = ConfigurationKey<Int>(
        "speech.cacheSize",
        50 << 20,
        allowed: "at least 1M, such as 50M or 1G"
    ) { text, _ in ByteCount.bytes(text).flatMap { $0 >= 1 << 20 ? Int($0) : nil } }

    static let transferRoots = ConfigurationKey<[String]>(list: "transfers.roots", [], allowed: "folders") {
        text,
        directory in
        path(text, directory)
    }

    static let allowHTTP = ConfigurationKey<[String]>(
        list: "transfers.allowHTTP",
        [],
        allowed: "hosts, each as HOST or HOST:PORT"
    ) { text, _ in RedirectPolicy.isPlainHost(text) ? text : nil }

    static let allowPrivate = ConfigurationKey<[String]>(
        list: "fetch.allowPrivate",
        [],
        allowed: "hosts, each as HOST or HOST:PORT"
    ) { text, _ in RedirectPolicy.isPlainHost(text) ? text : nil }

    static let retryMaximum = ConfigurationKey<Duration>(
        "transfers.retryMaximum",
        .seconds(600),
        allowed: "a duration from 1s to 1d"
    ) { text, _ in duration(text, in: .seconds(1)...(.seconds(86_400))) }

    static let syncInterval = ConfigurationKey<Duration>(
        "store.syncInterval",
        .seconds(1),
        allowed: "a duration from 10ms to 1h"
    ) { text, _ in duration(text, in: .milliseconds(10)...(.seconds(3600))) }

    static let retention = ConfigurationKey<Duration>(
        "store.retention",
        .seconds(365 * 86_400),
        allowed: "a duration from 1h to 100y, such as 90d or 1y"
    ) { text, _ in duration(text, in: .seconds(3600)...(.seconds(36_500 * 86_400))) }

    static let maximumSize = ConfigurationKey<Int?>(
        "store.maximumSize",
        nil,
        allowed: "at least 1M, such as 500M or 2G, or none"
    ) { text, _ in
        text == "none" ? .some(nil) : ByteCount.bytes(text).flatMap { $0 >= 1 << 20 ? .some(Int($0)) : .none }
    }

    static let logLevel = ConfigurationKey<Logger.Level>(
        "log.level",
        .info,
        allowed: Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
    ) { text, _ in Logger.Level(rawValue: text) }

    static let logProgress = ConfigurationKey<LogProgress>(
        "log.progress",
        .at(.seconds(60)),
        allowed: "every, off, or a duration from 1s to 1d"
    ) { text, _ in LogProgress(text) }

    static let publishStartWithin = ConfigurationKey<Duration>(
        "publish.startWithin",
        .seconds(60),
        allowed: "a duration from 0s to 1h"
    ) { text, _ in duration(text, in: .zero...(.seconds(3600))) }

    static let publishPace = ConfigurationKey<Double?>(
        "publish.pace",
        nil,
        allowed: "1 to 10000 points a second, or adaptive"
    ) { text, _ in
        text == "adaptive" ? .some(nil) : Int(text).flatMap { (1...10_000).contains($0) ? .some(Double($0)) : nil }
    }

    static let fleetItems = ConfigurationKey<String?>(
        "fleet.items",
        nil,
        allowed: "a folder with the files that commands of a fleet may play"
    ) { text, directory in path(text, directory).map { .some($0) } }

    static let fleetItemURL = ConfigurationKey<String?>(
        "fleet.itemURL",
        nil,
        allowed: "an http or https address of a folder, such as https://files.example.org/items/"
    ) { text, _ in
        // Names are appended.
        guard let url = try? WebURL(text), !text.contains("?"), !text.contains("#") else { return nil }
        return .some(text.hasSuffix("/") ? "\(url)" : "\(url)/")
    }

    static let fleetKeys = ConfigurationKey<[String]>(
        list: "fleet.keys",
        [],
        allowed: "PEM files with public Ed25519 keys"
    ) { text, directory in
        path(text, directory)
    }

    static let metricsTextfile = ConfigurationKey<String?>(
        "metrics.textfile",
        nil,
        allowed: "a file in the folder of the node exporter's textfile collector, such as backgrounder.prom"
    ) { text, directory in path(text, directory).map { .some($0) } }

    static let all: [AnyConfigurationKey] = [
        .init(modes), .init(source), .init(usageDescription), .init(desiredAccuracy), .init(distanceFilter),
        .init(maximumAccuracy), .init(jitterGuard), .init(driver), .init(queue), .init(autoplay), .init(latency),
        .init(format),
        .init(observerInterval), .init(musicDirectory), .init(mpdListen), .init(mpdPassword),
        .init(mpdPasswords), .init(mpdDefaultPermissions), .init(webListen), .init(webHosts), .init(webCertificate),
        .init(webKey), .init(webMap), .init(webTiles),
        .init(controlGroup), .init(controlExecute), .init(taskEnvironment),
        .init(placeImports), .init(speechVoice), .init(speechSpeed), .init(speechCache),
        .init(transferRoots), .init(allowHTTP), .init(retryMaximum), .init(allowPrivate), .init(syncInterval),
        .init(retention), .init(maximumSize), .init(logLevel), .init(logProgress), .init(metricsTextfile),
        .init(publishStartWithin), .init(publishPace), .init(fleetItems), .init(fleetItemURL), .init(fleetKeys),
    ]

    /// The names of the sections with declarations.
    static let declared = Declarations.Section.allCases.map(\.rawValue)
    /// The names of all keys and sections.
    static let names = all.map(\.name) + declared + [placeRules]
    /// The name of the list of rules.
    static let placeRules = "places.rules"

    /// The names of the keys that a reload applies; the others need a restart.
    static let reloadable = Set(
        [
            desiredAccuracy.name, distanceFilter.name, maximumAccuracy.name, jitterGuard.name, source.name,
            usageDescription.name, modes.name, observerInterval.name, transferRoots.name, allowHTTP.name,
            retryMaximum.name, allowPrivate.name,
            logLevel.name, logProgress.name, placeImports.name, placeRules, fleetItems.name, fleetItemURL.name,
            fleetKeys.name,
        ] + declared
    )
    /// The names of the keys that are read only while the store has no queue.
    static let initial: Set<String> = [queue.name, autoplay.name]

    private static func path(_ text: String, _ directory: String) -> String? {
        text.isEmpty || text.utf8.contains(0) ? nil : RuntimePaths.absolute(text, from: directory)
    }

    /// Parses YAML 1.1's boolean words.
    static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "on": true
        case "false", "no", "off": false
        default: nil
        }
    }

    private static func duration(_ text: String, in range: ClosedRange<Duration>) -> Duration? {
        Durations.duration(text).flatMap { range.contains($0) ? $0 : nil }
    }
}
