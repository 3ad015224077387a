package import BackgrounderAPI
import WebSupport

/// Chooses the files for the enclosures of a feed, so that enclosures with the same name get different files.
package enum EnclosureFiles {
    /// Where an enclosure belongs.
    package enum Destination: Hashable, Sendable {
        /// A transfer of the enclosure is not over yet.
        case open
        /// The enclosure was downloaded to this file, which may have been removed since.
        case downloaded(String)
        /// The enclosure was not downloaded before. No transfer has this absolute path, but an unrelated file may.
        case new(String)
    }

    /// Returns the destination for a download of `url`.
    ///
    /// Existing transfers are taken into account, so that an enclosure that is handed over again after a crash is not
    /// downloaded twice.
    ///
    /// - Parameters:
    ///   - folder: an absolute path.
    ///   - transfers: those of all sessions, in any order.
    package static func destination(
        of url: String,
        in folder: String,
        among transfers: [Transfer]
    ) -> Destination {
        let folder = folder == "/" ? "/" : folder + "/"
        // The transfers reject an invalid URL, or one without a file name.
        guard let address = try? WebURL(url), let name = try? address.fileName() else { return .new(folder) }
        let present = transfers.filter { $0.direction == .get && (!$0.state.isOver || $0.state == .done) }
        let own = present.filter { transfer in
            let place = transfer.destination
            return transfer.url == "\(address)" && place.hasPrefix(folder)
                && !place.dropFirst(folder.count).contains("/")
        }
        if own.contains(where: { !$0.state.isOver }) { return .open }
        if let done = own.max(by: { $0.id < $1.id }) { return .downloaded(done.destination) }
        let taken = Set(present.map(\.destination))
        var (number, path) = (0, folder + name)
        while taken.contains(path) {
            number += 1
            path = Download.numbered(folder + name, number)
        }
        return .new(path)
    }
}
