import Glibc

/// Tells whose element a name means.
///
/// Namespaces are resolved by hand: expat's own resolution refuses undeclared prefixes, which XML 1.0 allows and loggers
/// write, and the known extensions come under many addresses but always the same prefixes.
struct GPXNames {
    enum Family {
        /// GPX itself, or no prefix at all.
        case core
        /// Our extension.
        case own
        /// An extension that is known to mean metres, metres a second and degrees.
        case known
        case foreign
    }

    /// The prefix of the point that is open, with its colon; empty for none.
    private var core: [CChar] = []
    /// What the file binds its prefixes to; few, and only where it differs from the usual.
    private var bindings: [(prefix: String, family: Family)] = []
    private static let bindingLimit = 64

    private static let knownPrefixes = ["gpxtpx", "gpxdata", "wst", "osmand", "ns3"]
    private static let ownNamespace = "https://backgrounder.example/gpx/1"

    /// The part of `name` behind its prefix.
    static func localName(_ name: UnsafePointer<CChar>) -> UnsafePointer<CChar> {
        guard let colon = strchr(name, Int32(UInt8(ascii: ":"))) else { return name }
        return UnsafePointer(colon + 1)
    }

    /// Whether a document that is called `name` is a page of the web.
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

    /// Notes the namespaces that an element declares.
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

    /// Takes the prefix of a `trkpt` as that of GPX itself.
    mutating func setCore(_ name: UnsafePointer<CChar>, _ local: UnsafePointer<CChar>) {
        let count = local - name
        if count == core.count, count == 0 { return }
        core = Array(UnsafeBufferPointer(start: name, count: count))
    }

    /// Whose element `name` is, whose local part is `local`.
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
