import AudioPlayback
import BackgrounderAPI
import FoundationEssentials
import LocationUpdates
import Logging
import MPDServer
import MQTTClient
import Places
import SilentPush
import SystemSupport
import WebSupport

/// The origins of a configuration, which is read at the start and at each reload.
struct ConfigurationSource: Sendable {
    /// A file named by an option; it must exist.
    var file: String?
    /// The default file; read if it exists.
    var standardFile: String
    var environment: [String: String]
    /// The option's name and value for each key.
    var options: [String: (option: String, value: String?)]
    /// The folder that relative paths of options and variables start from.
    var directory: String

    func load() throws(ConfigurationError) -> DaemonConfiguration {
        try DaemonConfiguration(self)
    }
}

/// The configuration of one service. Options override the environment, which overrides the file, which overrides the defaults.
struct DaemonConfiguration: Sendable {
    private let layers: [ConfigurationLayer]
    /// The file that was read, or would have been if it existed.
    let file: String
    private let hasFile: Bool
    /// The entries that the file declares by name.
    let declarations: Declarations
    private let declaredPlaces: [String: ConfigurationPlace]
    /// The rules under `places.rules`.
    let placeRules: PlaceRuleList
    /// Whether the file sets a key. A file without keys equals no file.
    private let hasKeys: Bool
    private let environmentWarnings: [String]

    fileprivate init(_ source: ConfigurationSource) throws(ConfigurationError) {
        file = source.file.map { RuntimePaths.absolute($0, from: source.directory) } ?? source.standardFile
        let options = ConfigurationLayer(options: source.options, directory: source.directory)
        var layers = [options, ConfigurationLayer(environment: source.environment, directory: source.directory)]
        hasFile = source.file != nil || FileManager.default.fileExists(atPath: file)
        if hasFile {
            let content = ConfigurationLayer(file: file)
            layers.append(content)
            (declarations, declaredPlaces) = (content.declarations, content.declaredPlaces)
            placeRules = content.placeRules
            hasKeys = !content.entries.isEmpty || !declarations.isEmpty || !placeRules.rules.isEmpty
        } else {
            (declarations, declaredPlaces, hasKeys) = (Declarations(), [:], false)
            placeRules = PlaceRuleList(.null)
        }
        self.layers = layers
        environmentWarnings = EnvironmentNames.unknown(in: source.environment)
        let faults = layers.flatMap(\.faults)
        let all = faults + check(except: Set(faults.compactMap(\.key)))
        guard all.isEmpty else { throw ConfigurationError(all, isWrongArgument: !options.faults.isEmpty) }
    }

    /// Returns the value of `key`.
    func value<Value>(_ key: ConfigurationKey<Value>) -> Value {
        for layer in layers {
            if let entry = layer.entries[key.name], let value = key.parse(entry.text, layer.directory) { return value }
        }
        return key.fallback
    }

    /// Returns the text of ``value(_:)`` as it was written; `nil` for the default.
    func text(_ name: String) -> String? {
        layers.lazy.compactMap { $0.entries[name]?.text.description }.first
    }

    private func place(_ key: String) -> ConfigurationPlace {
        layers.lazy.compactMap { $0.entries[key]?.place }.first ?? .file(file)
    }

    /// Checks the rules that concern more than one key, or the file system.
    ///
    /// - Parameter faulty: the names of the keys that have faults already.
    private func check(except faulty: Set<String>) -> [ConfigurationFault] {
        var faults: [ConfigurationFault] = []
        func check(_ keys: [String], _ problem: () -> String?) {
            guard faulty.isDisjoint(with: keys), let key = keys.first, let problem = problem() else { return }
            faults.append(ConfigurationFault(place: place(key), key: key, problem: problem))
        }
        if let key = locationRequest {
            check([key, Keys.modes.name, Keys.usageDescription.name]) {
                // A misspelt key may be the missing one.
                guard faulty.isSubset(of: Keys.names), locationOffReason != nil else { return nil }
                return "the location mode needs \(Keys.usageDescription.name), \(Keys.usageDescription.allowed)"
                    + (text(Keys.modes.name) == nil ? "; to turn the mode off, set modes: [audio]" : "")
            }
        }
        check([
            Keys.mpdListen.name, Keys.mpdPassword.name, Keys.mpdPasswords.name, Keys.mpdDefaultPermissions.name,
        ]) {
            guard let address = value(Keys.mpdListen).first(where: { !$0.isLoopback }), mpdPasswords.isEmpty,
                value(Keys.mpdDefaultPermissions) == nil
            else { return nil }
            return
                "mpd.listen: other machines can reach \(address); set mpd.password, mpd.passwords or mpd.defaultPermissions, or use an address such as 127.0.0.1:6600"
        }
        check([Keys.webListen.name, Keys.webCertificate.name, Keys.webKey.name, Keys.webHosts.name]) {
            guard !value(Keys.webListen).isEmpty else { return nil }
            let missing =
                [Keys.webCertificate, Keys.webKey].filter { value($0) == nil }.map(\.name)
                + (value(Keys.webHosts).isEmpty ? [Keys.webHosts.name] : [])
            guard !missing.isEmpty else { return nil }
            let keys = missing.joined(separator: ", ")
            return "web.listen: a network needs an encrypted page with known names; set \(keys), or remove the key and "
                + "use `backgrounder open`"
        }
        check([Keys.source.name]) {
            guard let path = value(Keys.source).replayedFile, !Self.isReadableFile(path) else { return nil }
            return "location.source: cannot read \(path); check the path and the file's mode"
        }
        check([Keys.driver.name]) {
            value(Keys.driver).file.flatMap(Self.obstacle(toWriting:)).map { "audio.driver: \($0)" }
        }
        check([Keys.placeImports.name]) {
            var names: Set<String> = []
            let repeated = value(Keys.placeImports).map(PlaceImports.source).first { !names.insert($0).inserted }
            return repeated.map { "places.import: two files have the name \($0); rename one" }
        }
        return faults + checkDeclarations(except: faulty)
    }

    /// Checks what depends on other keys or on files: addresses, folders and credentials.
    private func checkDeclarations(except faulty: Set<String>) -> [ConfigurationFault] {
        var faults: [ConfigurationFault] = []
        func check(_ section: Declarations.Section, _ name: String, _ field: String, _ problem: String?) {
            guard let problem else { return }
            let key = "\(section.rawValue).\(name).\(field)"
            let place = declaredPlaces[key] ?? .file(file)
            faults.append(ConfigurationFault(place: place, key: section.rawValue, problem: "\(key): \(problem)"))
        }
        for source in declarations.sources {
            if !faulty.contains(Keys.allowHTTP.name) { check(.sources, source.name, "url", webProblem(of: source)) }
            if !faulty.contains(Keys.transferRoots.name) {
                check(.sources, source.name, "download", source.download.flatMap(rootProblem))
            }
            check(.sources, source.name, "credentials", source.credentials.flatMap(Self.problem(ofCredentials:)))
        }
        for push in declarations.pushes {
            check(.pushes, push.name, "credentials", push.credentials.flatMap(Self.problem(ofBroker:)))
        }
        for publisher in declarations.publishers {
            if publisher.isForServer {
                check(
                    .publishers,
                    publisher.name,
                    "credentials",
                    publisher.credentials.flatMap(Self.problem(ofCredentials:))
                )
                do throws(WebURLError) { _ = try WebURL(publisher.url) } catch {
                    check(.publishers, publisher.name, "http", error.description)
                }
                if !faulty.contains(Keys.allowHTTP.name) {
                    let problem = webProblem(of: publisher.url, hasCredentials: publisher.credentials != nil)
                    check(.publishers, publisher.name, "http", problem)
                }
            } else {
                check(
                    .publishers,
                    publisher.name,
                    "credentials",
                    publisher.credentials.flatMap(Self.problem(ofBroker:))
                )
            }
            if let file = publisher.certificate, let key = publisher.key {
                check(
                    .publishers,
                    publisher.name,
                    "certificate",
                    Self.problem(of: ClientCertificate(file: file, key: key))
                )
            }
        }
        return faults
    }

    /// Returns why the service may not contact the server of `source`; `nil` if it may.
    func webProblem(of source: FetchDefinition) -> String? {
        source.url.flatMap { webProblem(of: $0, hasCredentials: source.credentials != nil) }
    }

    private func webProblem(of address: String, hasCredentials: Bool) -> String? {
        guard let url = try? WebURL(address) else { return nil }
        let policy = webPolicy.forFetch(hasCredentials: hasCredentials)
        do throws(RedirectError) { try policy.check(url) } catch { return error.description }
        return nil
    }

    /// Returns why downloads may not be written to `folder`; `nil` if they may.
    func rootProblem(of folder: String) -> String? {
        let (folder, roots) = (RuntimePaths.absolute(folder), transferRoots)
        guard !roots.contains(where: { isPath(folder, in: $0) }) else { return nil }
        return "\(folder) is outside the transfer folders (\(roots.joined(separator: ", "))); use one of them, or add "
            + "the folder to transfers.roots"
    }

    private static func problem(ofCredentials path: String) -> String? {
        do throws(CredentialsError) { _ = try WebCredentials(path: path) } catch { return error.description }
        return nil
    }

    private static func problem(of certificate: ClientCertificate) -> String? {
        do throws(CredentialsError) { try certificate.check() } catch { return error.description }
        return nil
    }

    private static func problem(ofBroker path: String) -> String? {
        do throws(CredentialsError) { _ = try BrokerCredentials(path: path) } catch { return error.description }
        return nil
    }
}

extension DaemonConfiguration {
    /// The folders that downloads may be written to.
    var transferRoots: [String] {
        let roots = value(Keys.transferRoots)
        let items = value(Keys.fleetItems).map { [$0] } ?? []
        return (roots.isEmpty ? [RuntimePaths.absolute(file + "/../downloads")] : roots) + items
    }

    /// Why the location mode is off, in one line; `nil` if it may work.
    ///
    /// As on a phone, a configuration must say why it tracks. Without one, the service tracks as its documentation says.
    var locationOffReason: String? {
        guard hasKeys, value(Keys.usageDescription) == nil else { return nil }
        return "no \(Keys.usageDescription.name) in \(file); add \(Keys.usageDescription.allowed)"
    }

    /// The modes that continue while no client is attached.
    var declaredModes: [BackgroundMode] {
        value(Keys.modes).filter { $0 != .location || locationOffReason == nil }
    }

    /// The key that asks for the location mode: `modes`, an option, or any key of the mode while `modes` has its default.
    private var locationRequest: String? {
        let hasModes = text(Keys.modes.name) != nil
        if hasModes, value(Keys.modes).contains(.location) { return Keys.modes.name }
        if case .option = place(Keys.source.name) { return Keys.source.name }
        return hasModes ? nil : locationKey
    }

    /// The first key of the section `location` that is set.
    private var locationKey: String? {
        Keys.all.map(\.name).first { $0.hasPrefix("location.") && text($0) != nil }
    }

    /// The result of a check without faults, in one line.
    var verdict: String { hasFile ? "\(file) is valid" : "no \(file); the defaults are valid" }

    /// Probable mistakes that do not keep the service from starting, each in one line.
    var warnings: [String] {
        guard locationOffReason != nil, let key = locationKey else { return environmentWarnings }
        let needed = "\(Keys.usageDescription.name), \(Keys.usageDescription.allowed)"
        return environmentWarnings + ["\(place(key)): \(key) has no effect, because the location mode needs \(needed)"]
    }

    /// The passwords of `mpd.password` and `mpd.passwords`.
    var mpdPasswords: [MPDPassword] { (value(Keys.mpdPassword).map { [$0] } ?? []) + value(Keys.mpdPasswords) }

    private static func isReadableFile(_ path: String) -> Bool {
        var isDirectory = false
        let manager = FileManager.default
        return manager.fileExists(atPath: path, isDirectory: &isDirectory) && !isDirectory
            && manager.isReadableFile(atPath: path)
    }

    /// Returns why no file can be created at `path`; `nil` if it can.
    private static func obstacle(toWriting path: String) -> String? {
        let folder = RuntimePaths.absolute(path + "/..")
        let manager = FileManager.default
        var isDirectory = false
        guard manager.fileExists(atPath: folder, isDirectory: &isDirectory), isDirectory else {
            return "cannot write \(path): no folder \(folder); create it, or name another file"
        }
        guard manager.isWritableFile(atPath: folder) else {
            return "cannot write \(path): the folder \(folder) is not writable; check its mode, or name another file"
        }
        guard !manager.fileExists(atPath: path, isDirectory: &isDirectory) || !isDirectory else {
            return "cannot write \(path): it is a folder; name a file in it"
        }
        return nil
    }

    /// The servers that fetches and transfers may contact.
    var webPolicy: RedirectPolicy {
        RedirectPolicy(
            plainHosts: Set(value(Keys.allowHTTP).map { $0.lowercased() }),
            localHosts: Set(value(Keys.allowPrivate).map { $0.lowercased() })
        )
    }

    /// Returns the variables that commands see besides those they inherit: the location of the service, and `tasks.environment`.
    ///
    /// - Parameter service: the service's own environment.
    func commandEnvironment(_ paths: RuntimePaths, of service: [String: String]) -> [String: String] {
        var variables: [String: String] = [:]
        for variable in value(Keys.taskEnvironment) {
            switch variable {
            case .inherited(let name): variables[name] = service[name]
            case .assigned(let name, let value): variables[name] = value
            }
        }
        variables["BACKGROUNDER_HOME"] = paths.home
        return variables
    }

    /// Returns the keys whose text differs from that in `other`, and the sections whose declarations do.
    func changes(from other: DaemonConfiguration) -> [String] {
        Keys.all.map(\.name).filter { text($0) != other.text($0) }
            + Declarations.Section.allCases.filter { !declarations.isSame($0, as: other.declarations) }.map(\.rawValue)
            + (placeRules.rules == other.placeRules.rules ? [] : [Keys.placeRules])
    }
}
