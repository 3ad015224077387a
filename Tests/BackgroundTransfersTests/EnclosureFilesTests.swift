import BackgroundTransfers
import BackgrounderAPI
import Testing

/// The file names that enclosures get.
@Suite struct EnclosureFilesTests {
    /// Returns the paths of `urls`, each added after the previous ones; `nil` if its transfer is already open.
    private func take(
        _ urls: [String],
        in folder: String = "/d",
        among transfers: inout [Transfer],
        state: TransferState = .queued
    ) -> [String?] {
        urls.map { url in
            let path: String? =
                switch EnclosureFiles.destination(of: url, in: folder, among: transfers) {
                case .open: nil
                case .downloaded(let path), .new(let path): path
                }
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

    @Test func `enclosures with the same name become separate files`() {
        var transfers: [Transfer] = []
        let urls = ["https://h/1/x.mp3", "https://h/2/x.mp3", "https://h/3/x.mp3", "https://h/y", "https://h/4/y"]
        #expect(
            take(urls, among: &transfers) == ["/d/x.mp3", "/d/x (1).mp3", "/d/x (2).mp3", "/d/y", "/d/y (1)"]
        )
        // Names in different folders do not collide.
        #expect(take(["https://h/2/x.mp3"], in: "/d/e", among: &transfers) == ["/d/e/x.mp3"])
        #expect(take(["https://h/x.mp3"], in: "/", among: &transfers) == ["/x.mp3"])
    }

    @Test func `an enclosure that is handed over again is not downloaded twice`() {
        var transfers: [Transfer] = []
        let urls = ["https://h/1/x.mp3", "https://h/2/x.mp3"]
        _ = take([urls[0]], among: &transfers)
        // As after a crash before both were noted as handed over.
        #expect(take(urls, among: &transfers) == [nil, "/d/x (1).mp3"])
        #expect(take(urls, among: &transfers) == [nil, nil])
        // Finished ones keep their paths, so that the existing file prevents a second download.
        for index in transfers.indices { transfers[index].state = .done }
        #expect(take(urls, among: &transfers) == ["/d/x.mp3", "/d/x (1).mp3"])
    }

    @Test func `a new enclosure is told from a downloaded one`() {
        var transfers: [Transfer] = []
        _ = take(["https://h/1/x.mp3"], among: &transfers, state: .done)
        #expect(
            EnclosureFiles.destination(of: "https://h/1/x.mp3", in: "/d", among: transfers)
                == .downloaded("/d/x.mp3")
        )
        #expect(
            EnclosureFiles.destination(of: "https://h/2/x.mp3", in: "/d", among: transfers) == .new("/d/x (1).mp3")
        )
    }

    @Test func `a failed enclosure is retried and does not reserve its name`() {
        var transfers: [Transfer] = []
        _ = take(["https://h/1/x.mp3"], among: &transfers, state: .failed)
        #expect(take(["https://h/2/x.mp3", "https://h/1/x.mp3"], among: &transfers) == ["/d/x.mp3", "/d/x (1).mp3"])
    }

    @Test(arguments: ["no address", "ftp://h/x", "https://h/", "https://h/..", "https://h/a/%2e"])
    func `a URL without a file name gets the folder as its path, which transfers refuse`(url: String) {
        #expect(EnclosureFiles.destination(of: url, in: "/d", among: []) == .new("/d/"))
    }
}
