import AsyncHTTPClient
import BackgroundFetch
import BackgrounderAPI
import FoundationEssentials
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import StateStore
import SystemSupport
import WebSupport

/// `backgrounderd --launch-for-fetch NAME`: one fetch in a process of its own, without the servers, as a system would launch it.
///
/// If a service is running, it is asked to fetch. If another launch is running, this one waits for it, and shares its run if that
/// is of the same source.
struct LaunchForFetch: Sendable {
    let source: String
    let home: String?
    /// The configuration file.
    let file: String?

    private static let noNewData: Int32 = 3
    /// Tuned: how long to wait for another launch, in seconds; a fetch has 30.
    private static let patience = 60

    func run() async throws -> Never {
        let asked = Date()
        umask(0o077)
        let environment = ProcessInfo.processInfo.environment
        let paths = RuntimePaths.current(home: home)
        let configuration = try ConfigurationSource(
            file: file,
            standardFile: paths.configuration,
            environment: environment,
            options: [:],
            directory: RuntimePaths.absolute(".")
        ).load()
        try TrustedPath.require(configuration.file)
        chdir("/")
        try paths.makeDirectories()
        let launch = Launch(
            asked: asked,
            paths: paths,
            configuration: configuration,
            environment: environment,
            http: HTTPClient.forSources(on: MultiThreadedEventLoopGroup.singleton)
        )
        let record = InstanceRecord(configuration, recording: nil, options: nil)
        do {
            try await fetch(launch, try InstanceLock(paths, record: record))
        } catch InstanceError.alreadyRunning {
            let silence = try await askService(paths, launch.http)
            do {
                try await fetch(launch, try await .wait(paths, record: record, seconds: Self.patience))
            } catch InstanceError.alreadyRunning {
                DaemonCommand.fail("the service does not answer: \(silence); stop it with `backgrounder stop`")
            }
        }
    }

    /// The inputs of one launch.
    private struct Launch {
        /// When the launch was requested.
        let asked: Date
        let paths: RuntimePaths
        let configuration: DaemonConfiguration
        let environment: [String: String]
        let http: HTTPClient
    }

    /// Fetches as the only process of the home.
    private func fetch(_ launch: Launch, _ lock: consuming InstanceLock) async throws -> Never {
        let (paths, configuration) = (launch.paths, launch.configuration)
        paths.closeDirectories()
        let log = DaemonLog(path: paths.log, level: configuration.value(Keys.logLevel), environment: launch.environment)
        let logger = log.makeLogger()
        let store = try DaemonCommand.openStore(paths, configuration, logger, StorageWatch(logger: logger))
        // The run was in progress when this launch was requested.
        if let last = try await store.fetchRuns(of: source, last: 1).last, let ended = last.ended, ended >= launch.asked
        {
            try store.close()
            finish(last)
        }
        let scheduler = try FetchScheduler.make(
            StoreFetchJournal(store: store),
            web: WebOrigin(
                clients: WebClients(on: MultiThreadedEventLoopGroup.singleton),
                policy: { configuration.webPolicy }
            ),
            environment: configuration.commandEnvironment(paths, of: launch.environment),
            downloader: nil,
            clock: EventLoopClock(group: MultiThreadedEventLoopGroup.singleton),
            logger: log.makeLogger()
        ) { _ in }
        try await scheduler.closeOpenRuns()
        try await scheduler.declare(configuration.declarations.sources, in: configuration.file)
        if !configuration.value(Keys.modes).contains(.fetch), (try? await scheduler.source(source)) != nil {
            DaemonCommand.fail("fetch is not in modes; add it to modes in \(configuration.file)")
        }
        let result = await Result { () async throws(FetchError) in try await scheduler.run(source, .launch) }
        try store.close()
        log.flush()
        _ = consume lock
        switch result {
        case .success(let run): finish(run)
        case .failure(let error): fail(error.wireError)
        }
    }

    /// Asks the running service to fetch, and exits with its result.
    ///
    /// - Returns: the error of connecting, if no service listens on the socket.
    private func askService(_ paths: RuntimePaths, _ http: HTTPClient) async throws -> any Error {
        // An empty name would make the path of another route.
        guard !source.isEmpty else { fail(FetchError.noSuchSource(source).wireError) }
        let route = Routes.runFetch
        let path = route.path.replacing("{name}", with: source.percentEncoded)
        var request = HTTPClientRequest(url: "http+unix://\(paths.controlSocket.percentEncoded)\(path)")
        request.method = .POST
        request.headers = ["Content-Type": "application/json"]
        request.body = .bytes(ByteBuffer(bytes: try JSON.encode(FetchRunRequest(trigger: .launch))))
        let reply: (status: Int, bytes: Data)
        do {
            let response = try await http.execute(request, timeout: .seconds(60))
            let body = try await response.body.collect(upTo: 1 << 20)
            reply = (Int(response.status.code), Data(body.readableBytesView))
        } catch let error as IOError where error.errnoCode == ENOENT || error.errnoCode == ECONNREFUSED {
            return error
        } catch {
            DaemonCommand.fail("the service does not answer: \(error); stop it with `backgrounder stop`")
        }
        if reply.status == route.status, let run = try? JSON.decode(FetchRun.self, from: reply.bytes) { finish(run) }
        guard let error = try? JSON.decode(WireError.self, from: reply.bytes) else {
            DaemonCommand.fail(
                "the service answered with status \(reply.status); check that backgrounderd and the service have the same version"
            )
        }
        fail(error)
    }

    private func finish(_ run: FetchRun) -> Never {
        do {
            try StandardOutput.write(run.lines.map { "\(run.source): \($0)\n" }.joined())
        } catch {
            DaemonCommand.fail(error)
        }
        switch run.result {
        case .newData: Glibc.exit(0)
        case .noData: Glibc.exit(Self.noNewData)
        case .failed, nil: DaemonCommand.fail("\(run.source): \(run.reason ?? "it did not end")")
        }
    }

    private func fail(_ error: WireError) -> Never {
        DaemonCommand.fail(
            error.message + (error.hint.map { "; \($0)" } ?? ""),
            code: error.code == .notFound ? DaemonCommand.noSuchItem : 1
        )
    }
}

extension Result {
    fileprivate init(_ body: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
