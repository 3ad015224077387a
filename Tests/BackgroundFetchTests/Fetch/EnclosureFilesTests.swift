import BackgroundFetch
import BackgrounderAPI
import Testing

/// Which files enclosures become.
@Suite struct EnclosureFilesTests {
    /// Those of `urls`, each taken after the ones before; `nil` where it is on its way.
    private func take(
        _ urls: [String],
        in folder: String = "/d",
        among transfers: inout [Transfer],
        state: TransferState = .queued
    ) -> [String?] {
        urls.map { url in
            let path = EnclosureFiles.path(of: url, in: folder, among: transfers)
            if let path {
                transfers.append(
                    Transfer(
                        id: transfers.count + 1,
                        session: "cast",
                        direction: .get,
                        url: url,
                        destination: path,
                        state: state,
                        discretionary: true
                    )
                )
            }
            return path
        }
    }

    @Test func `Enclosures of one name become files of their own`() {
        var transfers: [Transfer] = []
        let urls = ["https://h/1/x.mp3", "https://h/2/x.mp3", "https://h/3/x.mp3", "https://h/y", "https://h/4/y"]
        #expect(
            take(urls, among: &transfers) == ["/d/x.mp3", "/d/x (1).mp3", "/d/x (2).mp3", "/d/y", "/d/y (1)"]
        )
        // Another folder has names of its own.
        #expect(take(["https://h/2/x.mp3"], in: "/d/e", among: &transfers) == ["/d/e/x.mp3"])
        #expect(take(["https://h/x.mp3"], in: "/", among: &transfers) == ["/x.mp3"])
    }

    @Test func `What is handed over again is not brought twice`() {
        var transfers: [Transfer] = []
        let urls = ["https://h/1/x.mp3", "https://h/2/x.mp3"]
        _ = take([urls[0]], among: &transfers)
        // A crash between taking the second one and noting both.
        #expect(take(urls, among: &transfers) == [nil, "/d/x (1).mp3"])
        #expect(take(urls, among: &transfers) == [nil, nil])
        // Those that are here keep their names, so that the file that is there tells.
        for index in transfers.indices { transfers[index].state = .done }
        #expect(take(urls, among: &transfers) == ["/d/x.mp3", "/d/x (1).mp3"])
    }

    @Test func `What failed is tried again, and leaves its name to others`() {
        var transfers: [Transfer] = []
        _ = take(["https://h/1/x.mp3"], among: &transfers, state: .failed)
        #expect(take(["https://h/2/x.mp3", "https://h/1/x.mp3"], among: &transfers) == ["/d/x.mp3", "/d/x (1).mp3"])
    }

    @Test(arguments: ["no address", "ftp://h/x", "https://h/", "https://h/..", "https://h/a/%2e"])
    func `What names no file is left to be refused`(url: String) {
        #expect(EnclosureFiles.path(of: url, in: "/d", among: []) == "/d/")
    }
}
