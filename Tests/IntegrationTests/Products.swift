import Foundation
import TestSupport

/// The programs under test and the files of the repository.
enum Products {
    static let backgrounder = BuiltProducts.backgrounder
    static let backgrounderd = BuiltProducts.backgrounderd

    /// Returns the absolute path of a file of the repository.
    static func repository(_ path: String, here: String = #filePath) -> String {
        URL(fileURLWithPath: "\(here)/../../../\(path)").standardizedFileURL.path
    }
}

/// Other programs that the tests need, at Debian's paths.
enum Programs {
    static let curl = "/usr/bin/curl"
    static let gpsd = "/usr/sbin/gpsd"
    static let python = "/usr/bin/python3"
    static let sqlite = "/usr/bin/sqlite3"
    static let strace = "/usr/bin/strace"
    static let lame = "/usr/bin/lame"
    static let mpg123 = "/usr/bin/mpg123"
    static let pulseaudio = "/usr/bin/pulseaudio"
    static let pactl = "/usr/bin/pactl"
    static let parec = "/usr/bin/parec"
    static let script = "/usr/bin/script"
    static let setsid = "/usr/bin/setsid"
    static let shell = "/bin/sh"
    static let sox = "/usr/bin/sox"
    static let xmllint = "/usr/bin/xmllint"
}
