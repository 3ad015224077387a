import ArgumentParser
import BackgrounderAPI
import NIOCore

/// What a shell offers behind a tab where a command wants something that the service has: `fetch show <TAB>`.
///
/// Nothing, where no service runs: a completion is no place for complaints.
enum NameCompletion {
    static let sources = CompletionKind.custom { words, _, _ in
        await candidates(words) { try await status($0).fetch?.map(\.name) }
    }
    /// The ids of open ones.
    static let tasks = CompletionKind.custom { words, _, _ in
        await candidates(words) { try await status($0).tasks?.map { String($0.id) } }
    }
    /// The ids of those that are not over.
    static let transfers = CompletionKind.custom { words, _, _ in
        await candidates(words) { try await status($0).transfers?.map { String($0.id) } }
    }
    static let pushes = CompletionKind.custom { words, _, _ in
        await candidates(words) { try await $0.call(Routes.pushes, patience: patience).map(\.name) }
    }

    // judgement: nobody waits longer behind a tab
    private static var patience: TimeAmount { .seconds(2) }

    private static func status(_ client: Client) async throws -> ServiceStatus {
        try await client.call(Routes.status, patience: patience)
    }

    private static func candidates(
        _ words: [String],
        _ names: @Sendable (Client) async throws -> [String]?
    ) async -> [String] {
        let found = try? await Client.use(.current(home: home(in: words))) { try await names($0) }
        return (found ?? nil) ?? []
    }

    /// What stands behind `--home`, as far as the line is typed.
    static func home(in words: [String]) -> String? {
        if let option = words.last(where: { $0.hasPrefix("--home=") }) { return String(option.dropFirst(7)) }
        guard let index = words.lastIndex(of: "--home"), words.indices.contains(index + 1) else { return nil }
        return words[index + 1]
    }
}
