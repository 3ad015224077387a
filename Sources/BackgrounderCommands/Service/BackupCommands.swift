import ArgumentParser
import SystemSupport

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Back up the history, the queue, the settings and all other data.",
        discussion: """
            Writes one new file. The service may be running, tracking and playing. The \
            copy is verified before it gets its name.

            EXAMPLES
              backgrounder backup /media/usb/backgrounder-2026-11-23.sqlite
            """
    )

    @Argument(help: ArgumentHelp("File to create; it must not exist.", valueName: "file"))
    var file: String
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try Launcher.exec(["backup", RuntimePaths.absolute(file)] + (service.home.map { ["--home", $0] } ?? []))
    }
}

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore all data of the service from a backup.",
        discussion: """
            The service must be stopped. The current database is not deleted but set aside \
            under another name in the same folder.

            EXAMPLES
              backgrounder stop
              backgrounder restore /media/usb/backgrounder-2026-11-23.sqlite
              backgrounder start
            """
    )

    @Argument(help: ArgumentHelp("File written by `backgrounder backup`.", valueName: "file"))
    var file: String
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try Launcher.exec(["restore", RuntimePaths.absolute(file)] + (service.home.map { ["--home", $0] } ?? []))
    }
}
