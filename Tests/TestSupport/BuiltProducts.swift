import Foundation

/// The programs under test: those that were built along with the tests, or those in the folder of the variable `PROGRAMS`.
package enum BuiltProducts {
    package static let backgrounder = folder + "/backgrounder"
    package static let backgrounderd = folder + "/backgrounderd"

    /// The nearest folder above this test bundle that contains both programs.
    private static let folder: String = {
        if let folder = ProcessInfo.processInfo.environment["PROGRAMS"] { return folder }
        guard let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            preconditionFailure("cannot read /proc/self/exe")
        }
        var folder = URL(fileURLWithPath: own).deletingLastPathComponent()
        while folder.path != "/" {
            let programs = ["backgrounder", "backgrounderd"].map { folder.appendingPathComponent($0).path }
            if programs.allSatisfy(FileManager.default.isExecutableFile) { return folder.path }
            folder.deleteLastPathComponent()
        }
        preconditionFailure("no backgrounder and backgrounderd above \(own); run `swift build`")
    }()
}
