import ArgumentParser
import BackgrounderAPI

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write history, queue, settings and everything else that the service keeps to one new file.",
        discussion: """
            It works while the service tracks and plays. The copy is checked before it gets its name.

            EXAMPLES
              backgrounder backup /media/usb/backgrounder-2026-11-23.sqlite
            """
    )

    @Argument(help: ArgumentHelp("A file that does not exist yet.", valueName: "file"))
    var file: String
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try Launcher.exec(["backup", RuntimePaths.absolute(file)] + (service.home.map { ["--home", $0] } ?? []))
    }
}

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a file of `backgrounder backup` in the place of what the service keeps.",
        discussion: """
            The service must be stopped. What was there before is kept beside it under another name.

            EXAMPLES
              backgrounder stop
              backgrounder restore /media/usb/backgrounder-2026-11-23.sqlite
              backgrounder start
            """
    )

    @Argument(help: ArgumentHelp("A file that `backgrounder backup` wrote.", valueName: "file"))
    var file: String
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try Launcher.exec(["restore", RuntimePaths.absolute(file)] + (service.home.map { ["--home", $0] } ?? []))
    }
}
