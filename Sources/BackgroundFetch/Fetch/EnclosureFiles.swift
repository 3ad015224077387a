package import BackgrounderAPI

/// Which files the enclosures of a feed become: each its own, also where many have the same name.
package enum EnclosureFiles {
    /// Where `url` is to be brought.
    ///
    /// The transfers that there are tell which of the enclosures were taken already, so that one that is handed over again after
    /// a crash is not brought twice.
    ///
    /// - Parameters:
    ///   - folder: absolute.
    ///   - transfers: of all sessions, in any order.
    /// - Returns: an absolute path, where the file may be already, from before; `nil` where it is on its way.
    package static func path(of url: String, in folder: String, among transfers: [Transfer]) -> String? {
        let folder = folder == "/" ? "/" : folder + "/"
        // What is no address, or names no file, is refused by whoever takes it.
        guard let address = try? WebURL(url), let name = try? address.fileName() else { return folder }
        let present = transfers.filter { $0.direction == .get && (!$0.state.isOver || $0.state == .done) }
        let own = present.filter { transfer in
            let place = transfer.destination
            return transfer.url == "\(address)" && place.hasPrefix(folder)
                && !place.dropFirst(folder.count).contains("/")
        }
        if own.contains(where: { !$0.state.isOver }) { return nil }
        if let done = own.max(by: { $0.id < $1.id }) { return done.destination }
        let taken = Set(present.map(\.destination))
        var (number, path) = (0, folder + name)
        while taken.contains(path) {
            number += 1
            path = Download.numbered(folder + name, number)
        }
        return path
    }
}
