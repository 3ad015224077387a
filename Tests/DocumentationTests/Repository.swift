import Foundation

/// The files of this repository, by paths relative to its top folder.
enum Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().standardizedFileURL.path

    /// The pages that people read, in the order of their paths.
    static let pages: [MarkdownPage] = {
        let documents = files(below: "docs").filter { $0.hasSuffix(".md") }
        return (["README.md", "CONTRIBUTING.md", "CHANGELOG.md"] + documents).map { path in
            MarkdownPage(path: path, text: (try? text(path)) ?? "")
        }
    }()

    static func text(_ path: String) throws -> String {
        try String(contentsOfFile: root + "/" + path, encoding: .utf8)
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root + "/" + path)
    }

    /// The paths of all files below `folder`, sorted.
    static func files(below folder: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: root + "/" + folder)?.compactMap { $0 as? String } ?? []
        return names.map { folder + "/" + $0 }.sorted()
    }
}
