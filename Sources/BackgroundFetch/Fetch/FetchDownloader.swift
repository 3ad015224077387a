import BackgrounderAPI
import Logging
package import WebSupport

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
        guard let downloader, sources[name]?.state.downloads.isEmpty == false else { return }
        Task { while await handSomeOver(name, downloader) {} }
    }

    /// Hands over the next few enclosures, so that commands do not wait for long, and returns whether there are more.
    private func handSomeOver(_ name: String, _ downloader: FetchDownloader) async -> Bool {
        await exclusively {
            guard phase != .ending, var source = sources[name], let folder = source.definition.download,
                !source.state.downloads.isEmpty
            else { return false }
            let urls = Array(source.state.downloads.prefix(FetchLimits.handover))
            do {
                let isLocal = source.state.downloadScope == .local
                try await downloader(name, urls, folder, isLocal ? .user : .server)
                source.state.downloads.removeFirst(urls.count)
                try await journal.save([try source.change()])
                adopt(source)
                return !source.state.downloads.isEmpty
            } catch {
                logger.warning("\(name): Cannot download the enclosures: \(error); retrying after the next fetch")
                return false
            }
        }
    }
}
