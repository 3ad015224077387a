import Foundation

/// The programs under test and the files of the repository that go with them.
enum Products {
    static let backgrounder = folder + "/backgrounder"
    static let backgrounderd = folder + "/backgrounderd"

    /// The absolute path of a file of the repository.
    static func repository(_ path: String, here: String = #filePath) -> String {
        URL(fileURLWithPath: "\(here)/../../../\(path)").standardizedFileURL.path
    }

    /// Where the build put this test bundle: the nearest folder above this program that holds both programs.
    private static let folder: String = {
        guard let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            preconditionFailure("this process does not know its own program")
        }
        var folder = URL(fileURLWithPath: own).deletingLastPathComponent()
        while folder.path != "/" {
            let programs = ["backgrounder", "backgrounderd"].map { folder.appendingPathComponent($0).path }
            if programs.allSatisfy(FileManager.default.isExecutableFile) { return folder.path }
            folder.deleteLastPathComponent()
        }
        preconditionFailure("no backgrounder and backgrounderd above \(own); `swift build` makes them")
    }()
}

/// What the tests need besides, where Debian puts it.
enum Programs {
    static let curl = "/usr/bin/curl"
    static let gpsd = "/usr/sbin/gpsd"
    static let python = "/usr/bin/python3"
    static let sqlite = "/usr/bin/sqlite3"
    static let strace = "/usr/bin/strace"
    static let lame = "/usr/bin/lame"
    static let mpg123 = "/usr/bin/mpg123"
    static let pulseaudio = "/usr/bin/pulseaudio"
    static let parec = "/usr/bin/parec"
    static let script = "/usr/bin/script"
    static let setsid = "/usr/bin/setsid"
    static let shell = "/bin/sh"
    static let sox = "/usr/bin/sox"
    static let xmllint = "/usr/bin/xmllint"
}
