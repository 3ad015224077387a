import Glibc

/// Determines to which vocabulary an element belongs.
///
/// Namespaces are resolved here because expat's resolution refuses undeclared prefixes, which XML 1.0 allows and loggers write,
/// and because the known extensions use many namespaces but always the same prefixes.
struct GPXNames {
    enum Family {
        /// GPX itself, or no prefix.
        case core
        /// Backgrounder's extension.
        case own
        /// An extension known to use metres, metres per second and degrees.
        case known
        case foreign
    }

    /// The prefix of the open point, with its colon; empty for none.
    private var core: [CChar] = []
    /// The prefixes that the file declares.
    private var bindings: [(prefix: String, family: Family)] = []
    private static let bindingLimit = 64

    private static let knownPrefixes = ["gpxtpx", "gpxdata", "wst", "osmand", "ns3"]
    private static let ownNamespace = "https://backgrounder.example/gpx/1"

    /// Returns the part of `name` after its prefix.
    static func localName(_ name: UnsafePointer<CChar>) -> UnsafePointer<CChar> {
        guard let colon = strchr(name, Int32(UInt8(ascii: ":"))) else { return name }
        return UnsafePointer(colon + 1)
    }

    /// Returns whether a document with the root element `name` is a web page.
    static func isHTML(_ name: UnsafePointer<CChar>) -> Bool { strcasecmp(name, "html") == 0 }

    /// Calls `body` with the name and the value of each attribute.
    static func each(
        _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>,
        _ body: (UnsafePointer<CChar>, UnsafeBufferPointer<UInt8>) -> Void
    ) {
        var index = 0
        while let key = attributes[index], let value = attributes[index + 1] {
            value.withMemoryRebound(to: UInt8.self, capacity: strlen(value)) {
                body(key, UnsafeBufferPointer(start: $0, count: strlen(value)))
            }
            index += 2
        }
    }

    /// Records the namespaces that an element declares.
    mutating func declare(_ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>) {
        var index = 0
        while let key = attributes[index], let value = attributes[index + 1] {
            if strncmp(key, "xmlns:", 6) == 0, bindings.count < Self.bindingLimit {
                let prefix = String(cString: key + 6)
                bindings.removeAll { $0.prefix == prefix }
                bindings.append((prefix, Self.family(of: String(cString: value), prefix: prefix)))
            }
            index += 2
        }
    }

    /// Uses the prefix of a `trkpt` as that of GPX itself.
    mutating func setCore(_ name: UnsafePointer<CChar>, _ local: UnsafePointer<CChar>) {
        let count = local - name
        if count == core.count, count == 0 { return }
        core = Array(UnsafeBufferPointer(start: name, count: count))
    }

    /// Returns the vocabulary of the element `name` with the local name `local`.
    func family(_ name: UnsafePointer<CChar>, _ local: UnsafePointer<CChar>) -> Family {
        let count = local - name
        if count == 0 { return .core }
        if count == core.count, strncmp(name, core, count) == 0 { return .core }
        for binding in bindings where binding.prefix.utf8.count == count - 1 {
            if binding.prefix.withCString({ strncmp(name, $0, count - 1) }) == 0 { return binding.family }
        }
        return Self.knownPrefixes.contains { $0.utf8.count == count - 1 && strncmp(name, $0, count - 1) == 0 }
            ? .known : .foreign
    }

    private static func family(of namespace: String, prefix: String) -> Family {
        if namespace == ownNamespace { return .own }
        if namespace.hasPrefix("http://www.topografix.com/GPX/1/") { return prefix == "gpxdata" ? .known : .core }
        let isKnown =
            namespace.hasPrefix("http://www.garmin.com/xmlschemas/TrackPointExtension/")
            || namespace.hasPrefix("http://www.cluetrust.com/XML/GPXDATA/") || knownPrefixes.contains(prefix)
        return isKnown ? .known : .foreign
    }
}
