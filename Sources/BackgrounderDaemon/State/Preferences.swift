import BackgrounderAPI
import LocationUpdates
import StateStore

/// The values that commands set. They override the configuration until the configuration's value of that key changes.
actor Preferences {
    private let store: StateStore
    private var settings: [String: Setting] = [:]
    private(set) var configuration: DaemonConfiguration

    init(store: StateStore, configuration: DaemonConfiguration) async throws {
        self.store = store
        self.configuration = configuration
        settings = Dictionary(uniqueKeysWithValues: try store.settings().map { ($0.key, $0) })
        try await forgetOverruled(by: configuration)
    }

    /// Replaces the configuration.
    ///
    /// - Throws: the error of the store; the configuration is then the previous one.
    func replace(_ configuration: DaemonConfiguration) async throws {
        try await forgetOverruled(by: configuration)
        self.configuration = configuration
    }

    var location: LocationSettings {
        LocationSettings(
            desiredAccuracy: value(Keys.desiredAccuracy),
            distanceFilter: value(Keys.distanceFilter),
            maximumAccuracy: value(Keys.maximumAccuracy),
            jitterGuard: value(Keys.jitterGuard)
        )
    }

    /// Stores the values of `change`. Call it before they are applied.
    func save(_ change: LocationChange) async throws {
        var texts: [(String, String)] = []
        if let level = change.desiredAccuracy { texts.append((Keys.desiredAccuracy.name, level.rawValue)) }
        if let metres = change.distanceFilter { texts.append((Keys.distanceFilter.name, String(metres))) }
        if let metres = change.maximumAccuracy {
            texts.append((Keys.maximumAccuracy.name, metres.map { String($0) } ?? "none"))
        }
        guard !texts.isEmpty else { return }
        let changed = texts.map { Setting(key: $0, value: $1, configured: configuration.text($0)) }
        try await store.save(changed)
        for setting in changed { settings[setting.key] = setting }
    }

    private func value<Value>(_ key: ConfigurationKey<Value>) -> Value {
        if let setting = settings[key.name], let value = key.parse(.scalar(setting.value), "/") { return value }
        return configuration.value(key)
    }

    private func forgetOverruled(by configuration: DaemonConfiguration) async throws {
        let overruled = settings.values.filter { $0.configured != configuration.text($0.key) }.map(\.key)
        guard !overruled.isEmpty else { return }
        try await store.removeSettings(overruled)
        for key in overruled { settings[key] = nil }
    }
}
