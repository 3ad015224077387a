import BackgrounderAPI
import CExpat
import Glibc

/// A point, track or route of a GPX file.
struct GPXItem {
    enum Kind: String {
        case waypoint = "wpt"
        case routePoint = "rtept"
        case trackPoint = "trkpt"
        case track = "trk"
        case route = "rte"

        var isPoint: Bool { self != .track && self != .route }
    }

    var kind: Kind
    /// The line of its first byte.
    var line: Int
    var latitude: [UInt8] = []
    var longitude: [UInt8] = []
    /// The texts of its own elements that ``GPXScanner`` reads, without those that are empty.
    var texts: [String: String] = [:]

    /// The position of a point.
    func coordinate() throws(ImportFault) -> Coordinate {
        try PlaceNumber.coordinate(latitude: latitude, longitude: longitude)
    }
}

/// Reads the points, tracks and routes of a GPX 1.0 or 1.1 file of any size with expat, block by block. Ignores extensions.
///
/// An item is handed over at its end, so a track follows its points.
final class GPXScanner {
    private let source: any ByteSource
    private let body: (GPXItem) throws(ImportFault) -> Void
    private let parser: XML_Parser
    private var fault: ImportFault?
    private var depth = 0
    /// The prefix of GPX's elements, with its colon; empty for none.
    private var prefix = ""
    /// The items that are open: a track or route, and a point in it.
    private var open: [(item: GPXItem, depth: Int)] = []
    /// The element of the innermost item whose text is read.
    private var field: String?
    private var text: [UInt8] = []

    /// The elements that are read.
    private static let fields: Set<String> = ["name", "sym", "type", "desc", "cmt"]

    /// Reads `source` to its end and calls `body` with each item.
    static func scan(_ source: any ByteSource, _ body: @escaping (GPXItem) throws(ImportFault) -> Void)
        throws(ImportFault)
    {
        guard let parser = XML_ParserCreate(nil) else { throw ImportFault(.unreadable(ENOMEM)) }
        try GPXScanner(source, parser, body).run()
    }

    private init(
        _ source: any ByteSource,
        _ parser: XML_Parser,
        _ body: @escaping (GPXItem) throws(ImportFault) -> Void
    ) {
        self.source = source
        self.parser = parser
        self.body = body
    }

    deinit { XML_ParserFree(parser) }

    private func run() throws(ImportFault) {
        setHandlers()
        var bytesRead = 0
        var count = 0
        repeat {
            guard let buffer = XML_GetBuffer(parser, Int32(ImportLimits.block)) else {
                throw ImportFault(.unreadable(ENOMEM))
            }
            count = try source.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: ImportLimits.block))
            bytesRead += count
            guard XML_ParseBuffer(parser, Int32(count), count == 0 ? 1 : 0) == XML_STATUS_OK else {
                throw fault ?? damage()
            }
            // While a token is unfinished, the parser's position is the token's beginning.
            guard count == 0 || bytesRead - cexpat_offset(parser) <= ImportLimits.token else {
                throw ImportFault(.tooLong("a tag or comment", limit: ImportLimits.token), line: line)
            }
        } while count > 0
    }

    private func setHandlers() {
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { context, name, attributes in
                guard let name, let attributes else { return }
                GPXScanner.with(context) { scanner throws(ImportFault) in try scanner.start(name, attributes) }
            },
            { context, _ in GPXScanner.with(context) { scanner throws(ImportFault) in try scanner.end() } }
        )
        XML_SetCharacterDataHandler(parser) { context, bytes, count in
            guard let bytes else { return }
            GPXScanner.with(context) { scanner throws(ImportFault) in
                guard scanner.field != nil else { return }
                guard scanner.text.count <= ImportLimits.propertyValue else {
                    throw ImportFault(.tooLong("a text", limit: ImportLimits.propertyValue))
                }
                bytes.withMemoryRebound(to: UInt8.self, capacity: Int(count)) {
                    scanner.text.append(contentsOf: UnsafeBufferPointer(start: $0, count: Int(count)))
                }
            }
        }
        XML_SetStartDoctypeDeclHandler(parser) { context, name, _, _, _ in
            let isHTML = name.map { strcasecmp($0, "html") == 0 } == true
            GPXScanner.with(context) { _ throws(ImportFault) in
                throw ImportFault(isHTML ? .webPage : .unsuitable("a DOCTYPE is refused; remove it"))
            }
        }
    }

    /// Calls `body`, and stops the parser if it throws. The fault gets the current line unless it has one.
    private static func with(_ context: UnsafeMutableRawPointer?, _ body: (GPXScanner) throws(ImportFault) -> Void) {
        guard let context else { return }
        let scanner = Unmanaged<GPXScanner>.fromOpaque(context).takeUnretainedValue()
        guard scanner.fault == nil else { return }
        do throws(ImportFault) { try body(scanner) } catch {
            scanner.fault = error.with(line: scanner.line)
            XML_StopParser(scanner.parser, 0)
        }
    }

    private var line: Int { cexpat_line(parser) }

    private func damage() -> ImportFault {
        let message = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown error"
        return ImportFault(.damaged(format: "XML", message), line: line)
    }

    private func start(
        _ name: UnsafePointer<CChar>,
        _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>
    ) throws(ImportFault) {
        depth += 1
        guard depth <= ImportLimits.nesting else {
            throw ImportFault(.damaged(format: "XML", "elements are nested deeper than \(ImportLimits.nesting)"))
        }
        field = nil
        if depth == 1 { return try checkRoot(String(cString: name)) }
        guard let element = element(name) else { return }
        if let kind = GPXItem.Kind(rawValue: element), isExpected(kind) {
            var item = GPXItem(kind: kind, line: line)
            if kind.isPoint { Self.readPosition(attributes, &item) }
            open.append((item, depth))
        } else if let last = open.last, depth == last.depth + 1, Self.fields.contains(element) {
            field = element
            text.removeAll(keepingCapacity: true)
        }
    }

    private func end() throws(ImportFault) {
        if let field, !open.isEmpty {
            let label = String(decoding: text, as: UTF8.self)
            if !label.allSatisfy(\.isWhitespace) { open[open.count - 1].item.texts[field] = label }
            self.field = nil
        } else if let last = open.last, depth == last.depth {
            open.removeLast()
            try body(last.item)
        }
        depth -= 1
    }

    private func checkRoot(_ name: String) throws(ImportFault) {
        let parts = name.split(separator: ":", maxSplits: 1)
        if parts.count == 2 { prefix = parts[0] + ":" }
        switch parts.last?.lowercased() {
        case "gpx": return
        case "html": throw ImportFault(.webPage)
        default:
            throw ImportFault(.unsuitable("the root element is \(quoted(name)), not gpx; convert the file to GPX"))
        }
    }

    /// Returns the name of an element of GPX without its prefix; `nil` for other vocabularies.
    private func element(_ name: UnsafePointer<CChar>) -> String? {
        guard let colon = strchr(name, 0x3A) else { return String(cString: name) }
        guard strncmp(name, prefix, prefix.utf8.count) == 0 else { return nil }
        return prefix.isEmpty ? nil : String(cString: colon + 1)
    }

    /// Whether an item of this kind may begin here.
    private func isExpected(_ kind: GPXItem.Kind) -> Bool {
        switch kind {
        case .waypoint, .track, .route: depth == 2
        case .routePoint: depth == 3 && open.last?.item.kind == .route
        case .trackPoint: depth == 4 && open.last?.item.kind == .track
        }
    }

    private static func readPosition(_ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>, _ item: inout GPXItem) {
        var index = 0
        while let key = attributes[index], let value = attributes[index + 1] {
            let bytes = UnsafeRawBufferPointer(start: value, count: strlen(value))
            if strcmp(key, "lat") == 0 { item.latitude = Array(bytes) }
            if strcmp(key, "lon") == 0 { item.longitude = Array(bytes) }
            index += 2
        }
    }
}
