// swift-tools-version: 6.2
import PackageDescription

let serviceLifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

let package = Package(
    name: "backgrounder",
    products: [
        .executable(name: "backgrounder", targets: ["backgrounder"])
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/attaswift/BigInt", from: "6.0.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(name: "CAO", pkgConfig: "ao", providers: [.apt(["libao-dev"])]),
        .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(name: "CGPS", pkgConfig: "libgps", providers: [.apt(["libgps-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CMPG123", pkgConfig: "libmpg123", providers: [.apt(["libmpg123-dev"])]),
        .systemLibrary(name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CPostgres"),
        .systemLibrary(name: "CPulse"),
        .systemLibrary(name: "CSndFile", pkgConfig: "sndfile", providers: [.apt(["libsndfile1-dev"])]),
        .systemLibrary(name: "CSoxr", pkgConfig: "soxr", providers: [.apt(["libsoxr-dev"])]),
        .systemLibrary(name: "CZip", pkgConfig: "libzip", providers: [.apt(["libzip-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "SystemSupport", dependencies: ["CLinux"]),
        .target(name: "BackgrounderAPI", dependencies: ["SystemSupport"]),
        .target(name: "ServiceLog", dependencies: ["BackgrounderAPI", "SystemSupport"]),
        .target(
            name: "MapArchive",
            dependencies: ["BackgrounderAPI", "SystemSupport", .product(name: "GRDB", package: "GRDB.swift")]
        ),
        .target(name: "Playlists", dependencies: ["BackgrounderAPI", "SystemSupport"]),
        .target(
            name: "LocationUpdates",
            dependencies: ["BackgrounderAPI", "CExpat", "CGPS", "CLinux", "SystemSupport", serviceLifecycle, logging]
        ),
        .target(
            name: "Places",
            dependencies: ["BackgrounderAPI", "CExpat", "CZip", "SystemSupport", serviceLifecycle, logging]
        ),
        .target(
            name: "MediaFiles",
            dependencies: [
                "BackgrounderAPI", "CMPG123", "CSndFile", "Playlists", "SystemSupport", "WebSupport", logging,
            ]
        ),
        .target(
            name: "MusicLibrary",
            dependencies: ["BackgrounderAPI", "MediaFiles", "Playlists", "SystemSupport", serviceLifecycle, logging]
        ),
        .target(
            name: "AudioPlayback",
            dependencies: [
                "BackgrounderAPI", "CAO", "CPulse", "CSoxr", "MediaFiles", "SystemSupport", "WebSupport",
                serviceLifecycle, logging,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]
        ),
        .target(name: "ChildProcesses", dependencies: ["CLinux", "SystemSupport"]),
        .target(
            name: "BackgroundTasks",
            dependencies: [
                "BackgrounderAPI", "ChildProcesses", "SystemSupport", serviceLifecycle, logging,
                .product(name: "BigInt", package: "BigInt"),
            ]
        ),
        .target(
            name: "Speech",
            dependencies: ["CLinux", "ChildProcesses", "SystemSupport", "WebSupport", serviceLifecycle, logging]
        ),
        .target(
            name: "WebSupport",
            dependencies: [
                "CLinux", "COpenSSL", "CZlib", "SystemSupport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
        ),
        .target(
            name: "BackgroundFetch",
            dependencies: [
                "BackgrounderAPI", "CExpat", "CLinux", "ChildProcesses", "SystemSupport", "WebSupport",
                serviceLifecycle, logging,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .target(
            name: "BackgroundTransfers",
            dependencies: [
                "BackgrounderAPI", "CLinux", "SystemSupport", "WebSupport", serviceLifecycle, logging,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ]
        ),
        .target(
            name: "MQTTClient",
            dependencies: ["BackgrounderAPI", "CMosquitto", "COpenSSL", "SystemSupport", "WebSupport"]
        ),
        .target(
            name: "SilentPush",
            dependencies: [
                "BackgrounderAPI", "MQTTClient", "SystemSupport", "WebSupport", serviceLifecycle, logging,
            ]
        ),
        .target(
            name: "FleetPublisher",
            dependencies: [
                "BackgrounderAPI", "MQTTClient", "SystemSupport", "WebSupport", serviceLifecycle, logging,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]
        ),
        .target(
            name: "FleetCommands",
            dependencies: [
                "BackgrounderAPI", "COpenSSL", "MQTTClient", "SystemSupport", "WebSupport", serviceLifecycle, logging,
            ]
        ),
        .target(
            name: "FleetCollector",
            dependencies: ["BackgrounderAPI", "CPostgres", "MQTTClient", "SystemSupport", serviceLifecycle, logging]
        ),
        .target(
            name: "StateStore",
            dependencies: [
                "BackgrounderAPI", "CLinux", "SystemSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]
        ),
        .target(name: "CPageFiles", exclude: ["page"]),
        .target(
            name: "ControlServer",
            dependencies: [
                "BackgrounderAPI", "CLinux", "CPageFiles", "Playlists", "SystemSupport", "WebSupport", serviceLifecycle,
                logging,
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
        ),
        .target(
            name: "MPDServer",
            dependencies: [
                "BackgrounderAPI", "SystemSupport", serviceLifecycle, logging,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .target(
            name: "ReplayTools",
            dependencies: ["BackgroundFetch", "BackgrounderAPI", "LocationUpdates", "Places", "SystemSupport"]
        ),
        .target(
            name: "BackgrounderDaemon",
            dependencies: [
                "AudioPlayback", "BackgroundFetch", "BackgroundTasks", "BackgroundTransfers", "BackgrounderAPI",
                "CExecutor", "CLinux", "ChildProcesses", "ControlServer", "FleetCollector", "FleetCommands",
                "FleetPublisher", "LocationUpdates", "MPDServer", "MQTTClient", "MapArchive",
                "MediaFiles", "MusicLibrary", "Places", "ReplayTools", "ServiceLog", "SilentPush", "Speech",
                "StateStore", "SystemSupport", "WebSupport",
                serviceLifecycle,
                logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),
        .target(
            name: "BackgrounderCommands",
            dependencies: [
                "BackgrounderAPI", "CExecutor", "ChildProcesses", "Playlists", "ServiceLog", "SystemSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(
            name: "backgrounder",
            dependencies: ["BackgrounderCommands"],
            // See `programs` in the Makefile.
            linkerSettings: [.unsafeFlags(["-Xclang-linker", "-static-libgcc"], .when(configuration: .release))]
        ),
        .target(name: "CExecutor"),
        .target(name: "CICUData", cSettings: [.define("RELEASE", .when(configuration: .release))]),
        .executableTarget(name: "backgrounderd", dependencies: ["BackgrounderDaemon", "CICUData"]),
        .testTarget(
            name: "AudioPlaybackTests",
            dependencies: [
                "AudioPlayback", "BackgrounderAPI", "MediaFiles", "SystemSupport", "TestSupport", "WebSupport",
                serviceLifecycle, logging,
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "BackgroundTasksTests",
            dependencies: [
                "BackgroundTasks", "BackgrounderAPI", "ChildProcesses", "SystemSupport", "TestSupport",
                serviceLifecycle, logging,
            ]
        ),
        .testTarget(
            name: "BackgroundFetchTests",
            dependencies: [
                "BackgroundFetch", "BackgrounderAPI", "SystemSupport", "TestSupport", "WebSupport", logging,
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "BackgroundTransfersTests",
            dependencies: [
                "BackgroundTransfers", "BackgrounderAPI", "SystemSupport", "TestSupport", "WebSupport",
                serviceLifecycle, logging,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "SilentPushTests",
            dependencies: [
                "BackgrounderAPI", "MQTTClient", "SilentPush", "SystemSupport", "TestSupport", "WebSupport",
                serviceLifecycle,
                logging,
            ]
        ),
        .testTarget(
            name: "FleetPublisherTests",
            dependencies: [
                "BackgrounderAPI", "FleetPublisher", "MQTTClient", "StateStore", "SystemSupport", "TestSupport",
                serviceLifecycle, logging,
            ]
        ),
        .testTarget(
            name: "FleetCommandsTests",
            dependencies: [
                "BackgrounderAPI", "FleetCommands", "MQTTClient", "StateStore", "SystemSupport", "TestSupport",
                serviceLifecycle, logging,
            ]
        ),
        .testTarget(
            name: "WebSupportTests",
            dependencies: [
                "TestSupport", "WebSupport", .product(name: "NIOCore", package: "swift-nio"),
            ]
        ),
        .testTarget(name: "SystemSupportTests", dependencies: ["BackgrounderAPI", "SystemSupport", "TestSupport"]),
        .testTarget(
            name: "ServiceLogTests",
            dependencies: ["BackgrounderAPI", "ServiceLog", "SystemSupport", "TestSupport"]
        ),
        .testTarget(
            name: "MapArchiveTests",
            dependencies: [
                "BackgrounderAPI", "MapArchive", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
            ]
        ),
        .testTarget(name: "MusicLibraryTests", dependencies: ["MusicLibrary"]),
        .testTarget(
            name: "PlacesTests",
            dependencies: ["BackgrounderAPI", "Places", "PlacesSimulation", "SystemSupport", "TestSupport", logging]
        ),
        .testTarget(name: "SpeechTests", dependencies: ["Speech", "SystemSupport", "TestSupport", logging]),
        .target(
            name: "PlacesSimulation",
            dependencies: ["BackgrounderAPI", "Places", "SystemSupport"],
            path: "Tests/PlacesSimulation"
        ),
        .executableTarget(
            name: "fleet-simulator",
            dependencies: [
                "BackgrounderAPI", "FleetPublisher", "SystemSupport", "WebSupport", logging,
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Benchmarks/Fleet"
        ),
        .executableTarget(
            name: "places-benchmark",
            dependencies: [
                "BackgrounderAPI", "Places", "PlacesSimulation", "SystemSupport",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            path: "Benchmarks/Places"
        ),
        .testTarget(
            name: "PlaylistsTests",
            dependencies: ["BackgrounderAPI", "Playlists", "SystemSupport", "TestSupport"]
        ),
        .testTarget(
            name: "BackgrounderDaemonTests",
            dependencies: [
                "AudioPlayback", "BackgrounderAPI", "BackgrounderDaemon", "LocationUpdates", "MPDServer", "MediaFiles",
                "MusicLibrary", "StateStore", "SystemSupport", "TestSupport", logging,
            ]
        ),
        .testTarget(
            name: "LocationUpdatesTests",
            dependencies: [
                "BackgrounderAPI", "CGPS", "LocationUpdates", "SystemSupport", "TestSupport", serviceLifecycle,
                logging,
            ],
            exclude: ["Wild"]
        ),
        .target(
            name: "TestSupport",
            dependencies: ["BackgrounderAPI", logging, .product(name: "Yams", package: "Yams")],
            path: "Tests/TestSupport"
        ),
        .testTarget(name: "TestSupportTests", dependencies: ["TestSupport"]),
        .testTarget(name: "BackgrounderAPITests", dependencies: ["BackgrounderAPI", "SystemSupport", "TestSupport"]),
        .testTarget(
            name: "StateStoreTests",
            dependencies: [
                "BackgrounderAPI", "StateStore", "SystemSupport", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Schemas"]
        ),
        .testTarget(
            name: "ControlServerTests",
            dependencies: [
                "BackgrounderAPI", "ControlServer", "SystemSupport", "TestSupport", serviceLifecycle, logging,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "MPDServerTests",
            dependencies: [
                "BackgrounderAPI", "MPDServer", "SystemSupport", "TestSupport", serviceLifecycle, logging,
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "BackgrounderCommandsTests",
            dependencies: [
                "BackgrounderAPI", "BackgrounderCommands", "Playlists", "ServiceLog", "SystemSupport", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["Screens"]
        ),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "BackgrounderCommands", "BackgrounderDaemon", "SystemSupport", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        // The two programs are dependencies so that they are built; the tests run them.
        .testTarget(
            name: "IntegrationTests",
            dependencies: ["BackgrounderAPI", "SystemSupport", "TestSupport", "backgrounder", "backgrounderd"]
        ),
    ],
    swiftLanguageModes: [.v6]
)

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
    // A newer system library or toolchain may deprecate what this one offers.
    .treatWarning("DeprecatedDeclaration", as: .warning),
]
for target in package.targets where target.type != .system {
    target.swiftSettings = settings
}

// Under libFuzzer, which `make fuzz` alone needs, the fuzz targets are a program whose main is the fuzzer's; else they are tests.
let isFuzzing = Context.environment["BACKGROUNDER_FUZZ"] != nil
let fuzzDependencies: [Target.Dependency] = [
    "AudioPlayback", "BackgroundFetch", "BackgroundTransfers", "BackgrounderAPI", "ControlServer", "LocationUpdates",
    "MPDServer", "MQTTClient", "MediaFiles", "Places", "Playlists", "SilentPush", "StateStore", "SystemSupport",
    "WebSupport",
    serviceLifecycle, logging,
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOEmbedded", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
]
package.targets.append(
    isFuzzing
        ? .executableTarget(
            name: "Fuzzer",
            dependencies: fuzzDependencies,
            path: "Tests/FuzzTests",
            exclude: ["Found", "FuzzTests.swift", "make_seeds.sh"],
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]
        )
        : .testTarget(
            name: "FuzzTests",
            dependencies: fuzzDependencies + ["TestSupport"],
            exclude: ["Found", "Fuzzer.swift", "make_seeds.sh"],
            swiftSettings: settings
        )
)
