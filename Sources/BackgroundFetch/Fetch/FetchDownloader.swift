import BackgrounderAPI
import Logging

/// Takes the enclosures of a source, as transfers that wait for power and a network that costs nothing.
///
/// - Parameters:
///   - source: its name.
///   - urls: each at most once; one that it was given before is none to take again.
///   - folder: absolute.
///   - namer: who named the URLs.
/// - Throws: where none of them was taken; all of them are offered again after the next run.
package typealias FetchDownloader =
    @Sendable (_ source: String, _ urls: [String], _ folder: String, _ namer: URLNamer) async throws -> Void

extension FetchScheduler {
    /// Hands over what the runs of `name` found to be brought. What was found is stored with the run's result and only
    /// taken from there when it is in other hands, so that a crash in between loses nothing.
    func handDownloadsOver(_ name: String) {
        guard let downloader, let source = sources[name], let folder = source.definition.download,
            !source.standing.downloads.isEmpty
        else { return }
        Task { while await handSomeOver(name, downloader, folder) {} }
    }

    /// Hands the next ones over, so few that commands need not wait for long; whether there are more.
    private func handSomeOver(_ name: String, _ downloader: FetchDownloader, _ folder: String) async -> Bool {
        await exclusively {
            guard !isEnding, var source = sources[name], !source.standing.downloads.isEmpty else { return false }
            let urls = Array(source.standing.downloads.prefix(FetchJudgement.handover))
            do {
                let isLocal = source.standing.downloadScope == .local
                try await downloader(name, urls, folder, isLocal ? .user : .server)
                source.standing.downloads.removeFirst(urls.count)
                try await journal.save([try source.change()])
                keep(source)
                return !source.standing.downloads.isEmpty
            } catch {
                logger.warning("\(name): the enclosures cannot be downloaded yet: \(error)")
                return false
            }
        }
    }
}
