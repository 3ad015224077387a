package import BackgrounderAPI

/// Chooses the files for the enclosures of a feed, so that enclosures with the same name get different files.
package enum EnclosureFiles {
    /// Returns the destination for a download of `url`.
    ///
    /// Existing transfers are taken into account, so that an enclosure that is handed over again after a crash is not
    /// downloaded twice.
    ///
    /// - Parameters:
    ///   - folder: an absolute path.
    ///   - transfers: those of all sessions, in any order.
    /// - Returns: an absolute path, which is that of the existing file if `url` was downloaded before; `nil` if a
    ///   transfer of `url` is not over yet.
    package static func path(of url: String, in folder: String, among transfers: [Transfer]) -> String? {
        let folder = folder == "/" ? "/" : folder + "/"
        // The transfers reject an invalid URL, or one without a file name.
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
