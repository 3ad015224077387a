import ArgumentParser
import BackgrounderAPI
import SystemSupport

/// The shell completion of names and ids that the service knows, as for `fetch show <TAB>`.
///
/// It offers nothing if the service is not running; a completion cannot report errors.
enum NameCompletion {
    static let sources = CompletionKind.custom { words, _, _ in
        await candidates(words) { try await status($0).fetch?.map(\.name) }
    }
    /// The ids of the open tasks.
    static let tasks = CompletionKind.custom { words, _, _ in
        await candidates(words) { try await status($0).tasks?.map { String($0.id) } }
    }
    /// The ids of the open transfers.
    static let transfers = CompletionKind.custom { words, _, _ in
        await candidates(words) { try await status($0).transfers?.map { String($0.id) } }
    }
    static let publishers = CompletionKind.custom { words, _, _ in
        await candidates(words) { try await $0.call(Routes.publishers, patience: patience).map(\.name) }
    }

    static let pushes = CompletionKind.custom { words, _, _ in
        await candidates(words) { try await $0.call(Routes.pushes, patience: patience).map(\.name) }
    }

    /// The names of the places, as far as a shell can show them.
    static let places = CompletionKind.custom { words, _, _ in
        await candidates(words) {
            try await $0.call(Routes.places, query: [("count", "200")], patience: patience).map(\.definition.name)
        }
    }

    /// Tuned: a user does not wait longer for a completion.
    private static var patience: Duration { .seconds(2) }

    private static func status(_ client: Client) async throws -> ServiceStatus {
        try await client.call(Routes.status, patience: patience)
    }

    private static func candidates(
        _ words: [String],
        _ names: @Sendable (Client) async throws -> [String]?
    ) async -> [String] {
        let found = try? await names(Client(.current(home: home(in: words))))
        return (found ?? nil) ?? []
    }

    /// Returns the value of `--home` in the words typed so far.
    static func home(in words: [String]) -> String? {
        if let option = words.last(where: { $0.hasPrefix("--home=") }) { return String(option.dropFirst(7)) }
        guard let index = words.lastIndex(of: "--home"), words.indices.contains(index + 1) else { return nil }
        return words[index + 1]
    }
}
