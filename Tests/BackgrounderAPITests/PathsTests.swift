import BackgrounderAPI
import Testing

@Suite struct PathsTests {
    @Test(arguments: [
        ("/srv", "/srv", true), ("/srv/a/b", "/srv", true), ("/srv2", "/srv", false), ("/sr", "/srv", false),
        ("/", "/", true), ("/a", "/", true), ("/a/b", "/", true), ("/", "/a", false),
        ("/日本/a", "/日本", true), ("/a/\u{301}b", "/a", true), ("/e\u{301}/x", "/\u{E9}", false),
    ])
    func `A path is in a folder by its bytes`(path: String, folder: String, isIn: Bool) {
        #expect(isPath(path, in: folder) == isIn)
    }

    @Test func `The parts of a path are what stands between its bytes for slashes`() {
        #expect(pathParts("/a//\u{301}b/日本/".utf8) == ["a", "\u{301}b", "日本"])
        #expect(pathParts("/".utf8) == [])
    }

    @Test(arguments: [
        ("/a/b", "/a", "b"), ("/b", "", "b"), ("b", "", "b"), ("/", "", ""), ("/a/\u{301}b", "/a", "\u{301}b"),
    ])
    func `A path is split at its last byte for a slash`(path: String, folder: String, name: String) {
        let parts = splitPath(path)
        #expect(parts.folder == folder && parts.name == name)
    }
}
