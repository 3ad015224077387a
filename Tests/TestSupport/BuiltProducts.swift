import Foundation

/// The programs that were built along with the tests.
package enum BuiltProducts {
    package static let backgrounder = folder + "/backgrounder"
    package static let backgrounderd = folder + "/backgrounderd"

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
