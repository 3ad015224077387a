package import BackgrounderAPI
import FoundationEssentials

extension FetchScheduler {
    /// Makes the declared sources those of `definitions`, in one transaction: adds, changes and removes sources.
    ///
    /// Sources that a command added stay. One with a declared name becomes a declared one. A source with another URL,
    /// command or kind starts fresh; other changes keep its content and its state.
    ///
    /// - Parameters:
    ///   - definitions: valid definitions with different names.
    ///   - file: the configuration file, for errors of commands.
    /// - Throws: ``FetchError/tooMany(_:)`` or ``FetchError/notSaved(_:)``; nothing changes then.
    package func declare(_ definitions: [FetchDefinition], in file: String) async throws(FetchError) {
        var cancelled: [Task<FetchRun, Never>] = []
        try await changing { () throws(FetchError) in
            declarationFile = file
            let declared = Set(definitions.map(\.name))
            var removed = names.filter { sources[$0]?.isDeclared == true && !declared.contains($0) }
            var (changed, added) = ([FetchDefinition](), [FetchDefinition]())
            for definition in definitions {
                guard let old = sources[definition.name] else {
                    added.append(definition)
                    continue
                }
                if !old.definition.hasContent(of: definition) {
                    removed.append(definition.name)
                    added.append(definition)
                } else if old.definition != definition || !old.isDeclared {
                    changed.append(definition)
                }
            }
            guard !(removed.isEmpty && changed.isEmpty && added.isEmpty) else { return }
            guard sources.count - removed.count + added.count <= FetchLimits.sourceLimit else {
                throw .tooMany(FetchLimits.sourceLimit)
            }
            let new = added.map { Source(definition: $0, isDeclared: true, state: FetchSourceState(since: now())) }
            var changes = removed.map(FetchChange.removed) + changed.map { .changed($0, isDeclared: true) }
            for source in new {
                changes.append(.added(source.definition, state: try source.encodedState(), isDeclared: true))
            }
            try await save(changes)
            cancelled = removed.compactMap(forget)
            for definition in changed {
                sources[definition.name]?.definition = definition
                sources[definition.name]?.isDeclared = true
                sources[definition.name]?.planEnd = .distantPast
            }
            for source in new {
                sources[source.definition.name] = source
                names.append(source.definition.name)
            }
        }
        for run in cancelled { _ = await run.value }
    }
}

extension FetchDefinition {
    /// Returns whether the content of this source is also that of `other`.
    fileprivate func hasContent(of other: FetchDefinition) -> Bool {
        url == other.url && command == other.command && kind == other.kind
    }
}
