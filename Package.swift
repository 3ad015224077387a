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
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CPulse", pkgConfig: "libpulse", providers: [.apt(["libpulse-dev"])]),
        .systemLibrary(name: "CSndFile", pkgConfig: "sndfile", providers: [.apt(["libsndfile1-dev"])]),
        .systemLibrary(name: "CSoxr", pkgConfig: "soxr", providers: [.apt(["libsoxr-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "BackgrounderAPI"),
        .target(
            name: "LocationUpdates",
            dependencies: ["BackgrounderAPI", "CExpat", "CGPS", serviceLifecycle, logging]
        ),
        .target(
            name: "AudioPlayback",
            dependencies: [
                "BackgrounderAPI", "CAO", "CMPG123", "CPulse", "CSndFile", "CSoxr", serviceLifecycle, logging,
            ]
        ),
        .target(name: "ChildProcesses", dependencies: ["BackgrounderAPI", "CLinux", logging]),
        .target(
            name: "BackgroundTasks",
            dependencies: [
                "BackgrounderAPI", "ChildProcesses", serviceLifecycle, logging,
                .product(name: "BigInt", package: "BigInt"),
            ]
        ),
        .target(
            name: "BackgroundFetch",
            dependencies: [
                "BackgrounderAPI", "ChildProcesses", "CExpat", "CLinux", "CMosquitto", "COpenSSL", "CZlib",
                serviceLifecycle,
                logging,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ]
        ),
        .target(
            name: "StateStore",
            dependencies: [
                "BackgrounderAPI", "CLinux",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]
        ),
        .target(
            name: "ControlServer",
            dependencies: [
                "BackgrounderAPI", "CLinux", serviceLifecycle, logging,
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .target(
            name: "MPDServer",
            dependencies: [
                "BackgrounderAPI", serviceLifecycle, logging,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .target(
            name: "BackgrounderDaemon",
            dependencies: [
                "AudioPlayback", "BackgroundFetch", "BackgroundTasks", "BackgrounderAPI", "CLinux", "ChildProcesses",
                "ControlServer", "LocationUpdates", "MPDServer", "StateStore",
                serviceLifecycle, logging,
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
                "BackgrounderAPI", "ChildProcesses",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]
        ),
        .executableTarget(name: "backgrounder", dependencies: ["BackgrounderCommands"]),
        .executableTarget(name: "backgrounderd", dependencies: ["BackgrounderDaemon"]),
        .testTarget(
            name: "AudioPlaybackTests",
            dependencies: ["AudioPlayback", "BackgrounderAPI", "TestSupport", serviceLifecycle, logging]
        ),
        .testTarget(
            name: "BackgroundTasksTests",
            dependencies: [
                "BackgroundTasks", "BackgrounderAPI", "ChildProcesses", "TestSupport", serviceLifecycle, logging,
            ]
        ),
        .testTarget(
            name: "BackgroundFetchTests",
            dependencies: [
                "BackgroundFetch", "BackgrounderAPI", "ChildProcesses", "TestSupport", serviceLifecycle, logging,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "BackgrounderDaemonTests",
            dependencies: [
                "AudioPlayback", "BackgrounderAPI", "BackgrounderDaemon", "LocationUpdates", "MPDServer", "StateStore",
                "TestSupport",
                logging,
            ]
        ),
        .testTarget(
            name: "LocationUpdatesTests",
            dependencies: ["BackgrounderAPI", "CGPS", "LocationUpdates", "TestSupport", serviceLifecycle, logging],
            exclude: ["Wild"]
        ),
        .target(
            name: "TestSupport",
            dependencies: ["BackgrounderAPI", logging, .product(name: "Yams", package: "Yams")],
            path: "Tests/TestSupport"
        ),
        .testTarget(name: "TestSupportTests", dependencies: ["TestSupport"]),
        .testTarget(name: "BackgrounderAPITests", dependencies: ["BackgrounderAPI", "TestSupport"]),
        .testTarget(
            name: "StateStoreTests",
            dependencies: [
                "BackgrounderAPI", "StateStore", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Schemas"]
        ),
        .testTarget(
            name: "ControlServerTests",
            dependencies: [
                "BackgrounderAPI", "ControlServer", "TestSupport", serviceLifecycle, logging,
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "MPDServerTests",
            dependencies: [
                "BackgrounderAPI", "MPDServer", "TestSupport", serviceLifecycle, logging,
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "BackgrounderCommandsTests",
            dependencies: [
                "BackgrounderAPI", "BackgrounderCommands", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "BackgrounderAPI", "BackgrounderCommands", "BackgrounderDaemon", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        // The two programs are dependencies so that they are built; the tests run them.
        .testTarget(
            name: "IntegrationTests",
            dependencies: ["BackgrounderAPI", "TestSupport", "backgrounder", "backgrounderd"]
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
]
for target in package.targets where target.type != .system {
    target.swiftSettings = settings
}

// Under libFuzzer, which `make fuzz` alone needs, the fuzz targets are a program whose main is the fuzzer's; else they are tests.
let isFuzzing = Context.environment["BACKGROUNDER_FUZZ"] != nil
let fuzzDependencies: [Target.Dependency] = [
    "AudioPlayback", "BackgroundFetch", "BackgrounderAPI", "ControlServer", "LocationUpdates", "MPDServer",
    "StateStore",
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
