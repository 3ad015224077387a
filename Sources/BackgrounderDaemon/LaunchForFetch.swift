import AsyncHTTPClient
import BackgroundFetch
import BackgrounderAPI
import FoundationEssentials
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import StateStore

/// `backgrounderd --launch-for-fetch NAME`: the service as a system would start it for one fetch, without its servers.
///
/// Where a service runs already, it is asked for the fetch: there is only one for a home. Where another such launch runs, this
/// one waits for it, and joins its run if that is of the same source.
struct LaunchForFetch: Sendable {
    let source: String
    let home: String?
    /// Of the configuration.
    let file: String?

    private static let noNewData: Int32 = 3
    /// judgement: seconds that another launch has for all that it does; a fetch has 30.
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
        chdir("/")
        try paths.makeDirectories()
        let launch = Launch(
            asked: asked,
            paths: paths,
            configuration: configuration,
            environment: environment,
            http: HTTPClient.forSources(on: MultiThreadedEventLoopGroup.singleton)
        )
        let record = InstanceRecord(configuration, recording: nil)
        do {
            try await fetch(launch, try InstanceLock(paths, record: record))
        } catch InstanceError.alreadyRunning {
            let silence = try await askService(paths, launch.http)
            do {
                try await fetch(launch, try await .wait(paths, record: record, seconds: Self.patience))
            } catch InstanceError.alreadyRunning {
                DaemonCommand.fail("a service runs, but does not answer: \(silence); `backgrounder stop` ends it")
            }
        }
    }

    /// What it goes by.
    private struct Launch {
        /// When it was asked for.
        let asked: Date
        let paths: RuntimePaths
        let configuration: DaemonConfiguration
        let environment: [String: String]
        let http: HTTPClient
    }

    /// Fetches as the one process of its home.
    private func fetch(_ launch: Launch, _ lock: consuming InstanceLock) async throws -> Never {
        let (paths, configuration) = (launch.paths, launch.configuration)
        paths.closeDirectories()
        let log = DaemonLog(path: paths.log, level: configuration.value(Keys.logLevel), environment: launch.environment)
        let logger = log.makeLogger()
        let store = try DaemonCommand.openStore(paths, configuration, logger, StorageWatch(logger: logger))
        // It was under way when this one was asked for.
        if let last = try await store.fetchRuns(of: source, last: 1).last, let ended = last.ended, ended >= launch.asked
        {
            try store.close()
            finish(last)
        }
        let scheduler = try FetchScheduler.make(
            StoreFetchJournal(store: store),
            web: WebOrigin(
                clients: WebClients(on: MultiThreadedEventLoopGroup.singleton),
                localHosts: configuration.localHosts
            ),
            environment: configuration.commandEnvironment(paths, of: launch.environment),
            downloader: nil,
            clock: EventLoopClock(group: MultiThreadedEventLoopGroup.singleton),
            logger: log.makeLogger()
        ) { _ in }
        try await scheduler.closeOpenRuns()
        if !configuration.value(Keys.modes).contains(.fetch), (try? await scheduler.source(source)) != nil {
            DaemonCommand.fail("fetch is not in modes; modes: [fetch] in \(configuration.file) declares it")
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

    /// Lets the service that runs fetch, and ends as that says.
    ///
    /// - Returns: where nobody listens at its socket, what says so.
    private func askService(_ paths: RuntimePaths, _ http: HTTPClient) async throws -> any Error {
        // The path would be another route's.
        guard !source.isEmpty else { fail(FetchError.noSuchSource(source).wireError) }
        let route = Routes.runFetch
        let path = route.path.replacing("{name}", with: source.percentEncodedName)
        var request = HTTPClientRequest(url: "http+unix://\(paths.controlSocket.percentEncodedName)\(path)")
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
            DaemonCommand.fail("a service runs, but does not answer: \(error); `backgrounder stop` ends it")
        }
        if reply.status == route.status, let run = try? JSON.decode(FetchRun.self, from: reply.bytes) { finish(run) }
        guard let error = try? JSON.decode(WireError.self, from: reply.bytes) else {
            DaemonCommand.fail("a service runs, and answered \(reply.status); are both of one version?")
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

extension String {
    /// All but RFC 3986's unreserved characters as `%XX`.
    fileprivate var percentEncodedName: String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
        return utf8.reduce(into: "") { result, byte in
            if plain.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
