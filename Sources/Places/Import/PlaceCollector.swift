import BackgrounderAPI
import SystemSupport

/// Collects the places of a file, and refuses what no place may have: a missing name, a repeated name or id, too much of anything.
struct PlaceCollector {
    private(set) var places: [PlaceDefinition] = []

    private let source: String?
    private let refusal: (PlaceShape) -> String?
    /// How the items of the file are counted, such as `feature` or `line`.
    private let noun: String
    private var ids: [String: Int] = [:]
    private var names: [String: Int] = [:]
    private var vertices = 0
    private var textBytes = 0

    /// Creates a collector of the places of `source`. `refusal` returns why a shape is refused.
    init(source: String?, noun: String, refusal: @escaping (PlaceShape) -> String?) {
        self.source = source
        self.noun = noun
        self.refusal = refusal
    }

    /// Adds a place, which is the item `number` of the file.
    mutating func add(_ place: PlaceDefinition, number: Int) throws(ImportFault) {
        guard places.count < ImportLimits.places else {
            throw ImportFault(.tooMany("places", limit: ImportLimits.places))
        }
        var place = place
        place.source = source
        place.name = try Self.label(place.name, "the name", limit: ImportLimits.name)
        guard !place.name.isEmpty else { throw ImportFault(.missing("the name", remedy: "add a name")) }
        place.sourceId = try place.sourceId.map { (id) throws(ImportFault) in
            try Self.label(id, "the id", limit: ImportLimits.sourceId)
        }
        if place.sourceId?.isEmpty == true { place.sourceId = nil }
        try count(place)
        if let reason = refusal(place.shape) { throw ImportFault(.shape(reason)) }
        try register(place, number)
        places.append(place)
    }

    /// Counts positions before they become a place, so that a file with too many is refused while it is read.
    mutating func count(vertices count: Int) throws(ImportFault) {
        vertices += count
        guard vertices <= ImportLimits.vertices else {
            throw ImportFault(.tooMany("positions", limit: ImportLimits.vertices))
        }
    }

    private mutating func count(_ place: PlaceDefinition) throws(ImportFault) {
        guard place.tags.count <= ImportLimits.tags else {
            throw ImportFault(.tooMany("tags", limit: ImportLimits.tags, remedy: "remove some"))
        }
        guard place.properties.count <= ImportLimits.properties else {
            throw ImportFault(.tooMany("properties", limit: ImportLimits.properties, remedy: "remove some"))
        }
        textBytes += place.name.utf8.count + (place.sourceId?.utf8.count ?? 0)
        for tag in place.tags {
            guard tag.utf8.count <= ImportLimits.tag else {
                throw ImportFault(.tooLong("the tag \(quoted(tag))", limit: ImportLimits.tag))
            }
            textBytes += tag.utf8.count
        }
        for (name, value) in place.properties {
            guard name.utf8.count <= ImportLimits.propertyName else {
                throw ImportFault(.tooLong("the property name \(quoted(name))", limit: ImportLimits.propertyName))
            }
            guard value.utf8.count <= ImportLimits.propertyValue else {
                throw ImportFault(.tooLong("the property \(quoted(name))", limit: ImportLimits.propertyValue))
            }
            textBytes += 64 + name.utf8.count + value.utf8.count
        }
        guard textBytes <= ImportLimits.text else {
            throw ImportFault(.tooMany("bytes of names and properties", limit: ImportLimits.text))
        }
    }

    private mutating func register(_ place: PlaceDefinition, _ number: Int) throws(ImportFault) {
        if let id = place.sourceId {
            guard let first = ids.updateValue(number, forKey: id) else { return }
            throw ImportFault(
                .duplicate("id", value: id, first: "\(noun) \(first)", remedy: "give each place an id of its own")
            )
        }
        guard let first = names.updateValue(number, forKey: place.name) else { return }
        throw ImportFault(
            .duplicate("name", value: place.name, first: "\(noun) \(first)", remedy: "rename one, or give each an id")
        )
    }

    /// Returns a name or an id without surrounding white space, and with a space in place of each newline and tab.
    static func label(_ text: String, _ what: String, limit: Int) throws(ImportFault) -> String {
        guard text.utf8.count <= limit * 4 else { throw ImportFault(.tooLong(what, limit: limit)) }
        var label = text
        if text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
            let spaced = String(text.map { $0 == "\t" || $0.isNewline ? " " : $0 })
            label = String(spaced[...].trimmed)
        }
        guard label.utf8.count <= limit else { throw ImportFault(.tooLong(what, limit: limit)) }
        guard !label.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw ImportFault(.unsuitable("\(what) has a control character; remove it"))
        }
        return label
    }

    /// Returns the tags of a comma-separated list.
    static func tags(_ list: some StringProtocol) -> [String] {
        unique(list.split(separator: ",").map { String($0) })
    }

    /// Returns `tags` without surrounding spaces, empty tags and repetitions.
    static func unique(_ tags: [String]) -> [String] {
        var result: [String] = []
        for tag in tags {
            let tag = String(tag[...].trimmed)
            if !tag.isEmpty, !result.contains(tag) { result.append(tag) }
        }
        return result
    }
}
