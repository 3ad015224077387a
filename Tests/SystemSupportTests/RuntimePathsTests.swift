import FoundationEssentials
import SystemSupport
import TestSupport
import Testing

@Suite struct RuntimePathsTests {
    @Test(arguments: [0, 1000] as [UInt32])
    func `a home directory holds all files, for root and for other users`(userID: UInt32) {
        let paths = RuntimePaths(
            home: "/srv/one",
            environment: ["STATE_DIRECTORY": "/s", "RUNTIME_DIRECTORY": "/r"],
            userID: userID
        )
        #expect(paths.home == "/srv/one")
        #expect(paths.configuration == "/srv/one/config.yaml")
        #expect(paths.state == "/srv/one/state")
        #expect(paths.database == "/srv/one/state/backgrounder.sqlite")
        #expect(paths.run == "/srv/one/run")
        #expect(paths.controlSocket == "/srv/one/run/control.sock")
        #expect(paths.log == "/srv/one/backgrounder.log")
    }

    @Test func `the option overrides the environment variable, and an empty variable is ignored`() {
        let environment = ["BACKGROUNDER_HOME": "/variable"]
        #expect(RuntimePaths(home: "/option", environment: environment, userID: 0).home == "/option")
        #expect(RuntimePaths(home: nil, environment: environment, userID: 0).home == "/variable")
        #expect(RuntimePaths(home: nil, environment: ["BACKGROUNDER_HOME": ""], userID: 0).home == nil)
    }

    @Test func `a relative home is made absolute`() {
        let current = FileManager.default.currentDirectoryPath
        #expect(RuntimePaths(home: "a/../b/.", environment: [:], userID: 0).state == current + "/b/state")
    }

    @Test func `the first directory of each systemd list overrides the system directory`() {
        let environment = [
            "STATE_DIRECTORY": "/var/lib/backgrounder:/var/lib/more", "RUNTIME_DIRECTORY": "/run/bg",
            "CONFIGURATION_DIRECTORY": "/etc/bg",
        ]
        let paths = RuntimePaths(home: nil, environment: environment, userID: 0)
        #expect(paths.configuration == "/etc/bg/config.yaml")
        #expect(paths.state == "/var/lib/backgrounder")
        #expect(paths.controlSocket == "/run/bg/control.sock")
        #expect(paths.log == "/var/lib/backgrounder/backgrounder.log")
    }

    @Test func `root uses the system directories`() {
        let paths = RuntimePaths(home: nil, environment: ["HOME": "/root", "XDG_STATE_HOME": "/x"], userID: 0)
        #expect(paths.configuration == "/etc/backgrounder/config.yaml")
        #expect(paths.database == "/var/lib/backgrounder/backgrounder.sqlite")
        #expect(paths.controlSocket == "/run/backgrounder/control.sock")
        #expect(paths.log == "/var/lib/backgrounder/backgrounder.log")
    }

    @Test func `a user gets the XDG directories, or their defaults`() {
        let given = RuntimePaths(
            home: nil,
            environment: [
                "HOME": "/home/a", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c", "XDG_RUNTIME_DIR": "/run/user/1000",
            ],
            userID: 1000
        )
        #expect(given.configuration == "/c/backgrounder/config.yaml")
        #expect(given.state == "/s/backgrounder")
        #expect(given.run == "/run/user/1000/backgrounder")
        let defaults = RuntimePaths(home: nil, environment: ["HOME": "/home/a"], userID: 1000)
        #expect(defaults.configuration == "/home/a/.config/backgrounder/config.yaml")
        #expect(defaults.state == "/home/a/.local/state/backgrounder")
        #expect(defaults.run == "/home/a/.local/state/backgrounder/run")
        #expect(defaults.log == "/home/a/.local/state/backgrounder/backgrounder.log")
    }

    @Test func `a user without a service of their own gets the system's if they may use its socket`() throws {
        let scratch = try ScratchDirectory()
        let own = RuntimePaths(home: nil, environment: ["HOME": scratch.file("ann")], userID: 1000)
        let system = RuntimePaths(home: scratch.file("system"), environment: [:], userID: 0)
        #expect(own.orAccessible(system) == own)
        try touch(system.controlSocket)
        #expect(own.orAccessible(system) == system)
        let named = RuntimePaths(home: scratch.file("named"), environment: [:], userID: 1000)
        #expect(named.orAccessible(system) == named)
        try touch(own.controlSocket)
        #expect(own.orAccessible(system) == own)
    }

    private func touch(_ path: String) throws {
        let folder = RuntimePaths.absolute(path + "/..")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: path))
    }

    @Test(arguments: [
        ("/", "/"), ("/a//b/", "/a/b"), ("/a/./b/../c", "/a/c"), ("/../..", "/"), ("b", "/x/b"), ("../b", "/b"),
        ("", "/x"),
        ("..", "/"), ("ünï/日本", "/x/ünï/日本"), ("/a/../\u{301}b", "/\u{301}b"), ("/\u{301}b/.", "/\u{301}b"),
    ])
    func `a path is made absolute by its text alone`(path: String, absolute: String) {
        #expect(RuntimePaths.absolute(path, from: "/x") == absolute)
    }
}
