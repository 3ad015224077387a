import BackgrounderAPI
import Logging

/// A function that adds transfers for the enclosures of a source.
///
/// - Parameters:
///   - source: the name of the source.
///   - urls: the URLs to download, each at most once. It must ignore URLs from an earlier call.
///   - folder: the absolute path of the folder for the files.
///   - namer: the origin of the URLs, which decides whether they may have local addresses.
/// - Throws: an error if the transfers cannot be added now. All of `urls` are passed again after the next run.
package typealias FetchDownloader =
    @Sendable (_ source: String, _ urls: [String], _ folder: String, _ namer: URLNamer) async throws -> Void

extension FetchScheduler {
    /// Starts to hand the pending enclosures of `name` over to the downloader.
    ///
    /// Enclosures are stored together with the result of their run, and only removed after the handover, so a crash
    /// loses none.
    func handDownloadsOver(_ name: String) {
        guard let downloader, let source = sources[name], let folder = source.definition.download,
            !source.standing.downloads.isEmpty
        else { return }
        Task { while await handSomeOver(name, downloader, folder) {} }
    }

    /// Hands over the next few enclosures, so that commands do not wait for long, and returns whether there are more.
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
                logger.warning("\(name): Cannot download the enclosures: \(error); retrying after the next fetch")
                return false
            }
        }
    }
}
