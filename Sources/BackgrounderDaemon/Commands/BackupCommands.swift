import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import Glibc
import StateStore
import SystemSupport

/// `backgrounderd backup FILE`: copies the database while the service runs.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Do the work of `backgrounder backup`.",
        shouldDisplay: false
    )

    @Argument(help: ArgumentHelp("File to write; it must not exist.", valueName: "file"))
    var file: String
    /// The parent command has the option --home, which is parsed first.
    @ParentCommand var service: DaemonCommand

    func run() async throws {
        let paths = RuntimePaths.current(home: service.home)
        do throws(BackupError) {
            let file = RuntimePaths.absolute(file)
            let summary = try Backup.write(from: paths.database, to: file)
            print("wrote \(file): \(summary.words)")
            if let salvage = summary.salvage {
                DaemonCommand.fail("the database is damaged: \(salvage); restart the service to repair it")
            }
        } catch {
            DaemonCommand.fail(error.description)
        }
    }
}

/// `backgrounderd restore FILE`: replaces the database with a backup.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Do the work of `backgrounder restore`.",
        shouldDisplay: false
    )

    @Argument(help: ArgumentHelp("File that `backgrounder backup` wrote.", valueName: "file"))
    var file: String
    /// The parent command has the option --home, which is parsed first.
    @ParentCommand var service: DaemonCommand

    func run() async throws {
        let paths = RuntimePaths.current(home: service.home)
        do {
            try FolderOwner.become(of: paths)
            try paths.makeDirectories()
            // Prevents a start of the service meanwhile.
            let lock = try await InstanceLock.acquire(
                paths,
                record: InstanceRecord(pid: getpid(), configuration: paths.configuration, source: "", driver: "")
            )
            let (summary, aside) = try Backup.restore(RuntimePaths.absolute(file), to: paths.database)
            print("restored \(paths.database): \(summary.words)")
            if let aside { print("moved the previous database to \(aside)") }
            _ = consume lock
        } catch let error as BackupError {
            DaemonCommand.fail(error.description)
        } catch let error as InstanceError {
            DaemonCommand.fail(error.description)
        } catch let error as StartError {
            DaemonCommand.fail("\(error)")
        }
    }
}

extension Backup.Summary {
    /// `997 points, 2 trips, 1.2 MB`
    fileprivate var words: String {
        let megabytes = Double(size) / 1_000_000
        return "\(counted(points, "point")), \(counted(trips, "trip")), \((megabytes * 10).rounded() / 10) MB"
    }
}
