import SystemSupport
import Testing

@Suite struct PathsTests {
    @Test(arguments: [
        ("/srv", "/srv", true), ("/srv/a/b", "/srv", true), ("/srv2", "/srv", false), ("/sr", "/srv", false),
        ("/", "/", true), ("/a", "/", true), ("/a/b", "/", true), ("/", "/a", false),
        ("/日本/a", "/日本", true), ("/a/\u{301}b", "/a", true), ("/e\u{301}/x", "/\u{E9}", false),
    ])
    func `a path belongs to a folder by its bytes, not by its characters`(path: String, folder: String, isIn: Bool) {
        #expect(isPath(path, in: folder) == isIn)
    }

    @Test func `a path is divided at slash bytes, and empty parts are dropped`() {
        #expect(pathParts("/a//\u{301}b/日本/".utf8) == ["a", "\u{301}b", "日本"])
        #expect(pathParts("/".utf8) == [])
    }

    @Test(arguments: [
        ("/a/b", "/a", "b"), ("/b", "", "b"), ("b", "", "b"), ("/", "", ""), ("/a/\u{301}b", "/a", "\u{301}b"),
    ])
    func `a path is split into folder and name at its last slash byte`(path: String, folder: String, name: String) {
        let parts = splitPath(path)
        #expect(parts.folder == folder)
        #expect(parts.name == name)
    }
}
