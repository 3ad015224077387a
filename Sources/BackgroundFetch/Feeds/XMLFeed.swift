import CExpat

/// Reads RSS, RDF and Atom with expat.
enum XMLFeed {
    /// Returns the feed in `bytes`, which begins with the first tag or a byte order mark, after `skippedLines`.
    static func read(_ bytes: [UInt8], skippedLines: Int, base: String?) throws(FeedError) -> Feed {
        guard let parser = XML_ParserCreate(nil) else {
            preconditionFailure("cannot create an XML parser: out of memory")
        }
        defer { XML_ParserFree(parser) }
        let content = XMLFeedContent(base: base)
        let events = XMLEvents(parser: parser, content: content)
        let isWhole = bytes.withUnsafeBytes { bytes in
            // `FeedLimits.bytes` is far below `Int32.max`.
            XML_Parse(
                parser,
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(bytes.count),
                1
            )
        }
        return try withExtendedLifetime(events) { () throws(FeedError) in
            let line = cexpat_line(parser) + skippedLines
            if let refusal = events.refusal {
                throw FeedError(refusal, line: isAboutTheWhole(refusal) ? nil : line)
            }
            guard isWhole == XML_STATUS_OK else {
                let code = XML_GetErrorCode(parser)
                let message = XML_ErrorString(code).map { String(cString: $0) } ?? "unknown error"
                let isCut = code == XML_ERROR_NO_ELEMENTS || code == XML_ERROR_UNCLOSED_TOKEN
                throw FeedError(
                    .damagedXML(isCut ? "\(message); the end may be missing" : message),
                    line: line
                )
            }
            guard let feed = content.feed else { throw FeedError(.empty) }
            return feed
        }
    }

    private static func isAboutTheWhole(_ kind: FeedError.Kind) -> Bool {
        switch kind {
        case .html, .otherXML, .encoding: true
        default: false
        }
    }
}

/// Forwards the events of expat to an ``XMLFeedContent``, and stops parsing if a document breaks a rule that applies to
/// all documents. All of it runs inside `XML_Parse`, on the calling thread.
private final class XMLEvents {
    private let parser: XML_Parser
    private let content: XMLFeedContent
    private var depth = 0
    /// Why parsing was stopped.
    private(set) var refusal: FeedError.Kind?

    /// Installs the handlers, which do not retain this object: it must outlive `XML_Parse`.
    init(parser: XML_Parser, content: XMLFeedContent) {
        self.parser = parser
        self.content = content
        let context = Unmanaged.passUnretained(self).toOpaque()
        XML_SetUserData(parser, context)
        XML_SetElementHandler(
            parser,
            { context, name, attributes in
                guard let name else { return }
                XMLEvents.with(context) { $0.start(String(cString: name), XMLEvents.pairs(attributes)) }
            },
            { context, _ in XMLEvents.with(context) { $0.end() } }
        )
        XML_SetCharacterDataHandler(parser) { context, bytes, count in
            guard let bytes else { return }
            let raw = UnsafeRawBufferPointer(start: bytes, count: Int(count))
            XMLEvents.with(context) { if $0.refusal == nil { $0.content.characters(raw) } }
        }
        XML_SetStartDoctypeDeclHandler(parser) { context, name, _, _, _ in
            let isHTML = name.map { String(cString: $0).lowercased() } == "html"
            XMLEvents.with(context) { $0.refuse(isHTML ? .html(feed: nil) : .doctype) }
        }
        XML_SetUnknownEncodingHandler(
            parser,
            { context, name, encoding in
                guard let name, let encoding else { return Int32(XML_STATUS_ERROR.rawValue) }
                let label = String(cString: name)
                guard SingleByteEncoding.fill(&encoding.pointee, label: label) else {
                    XMLEvents.with(context) { $0.refuse(.encoding(label)) }
                    return Int32(XML_STATUS_ERROR.rawValue)
                }
                return Int32(XML_STATUS_OK.rawValue)
            },
            context
        )
    }

    private static func with(_ context: UnsafeMutableRawPointer?, _ body: (XMLEvents) -> Void) {
        guard let context else { return }
        body(Unmanaged<XMLEvents>.fromOpaque(context).takeUnretainedValue())
    }

    private static func pairs(
        _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) -> [(name: String, value: String)] {
        guard let attributes else { return [] }
        var pairs: [(String, String)] = []
        var index = 0
        while let name = attributes[index], let value = attributes[index + 1] {
            pairs.append((String(cString: name), String(cString: value)))
            index += 2
        }
        return pairs
    }

    private func refuse(_ kind: FeedError.Kind) {
        guard refusal == nil else { return }
        refusal = kind
        XML_StopParser(parser, 0)
    }

    private func start(_ name: String, _ attributes: [(name: String, value: String)]) {
        guard refusal == nil else { return }
        depth += 1
        guard depth <= FeedLimits.depth else { return refuse(.tooDeep(limit: FeedLimits.depth)) }
        do throws(FeedError) {
            try content.start(name, attributes, depth: depth)
        } catch {
            refuse(error.kind)
        }
    }

    private func end() {
        guard refusal == nil else { return }
        do throws(FeedError) {
            try content.end(depth: depth)
        } catch {
            refuse(error.kind)
        }
        depth -= 1
    }
}

/// Single-byte encodings that occur in feeds and that expat does not support.
private enum SingleByteEncoding {
    /// The differences between ISO 8859-15 and Latin-1.
    private static let latin9: [(byte: Int, scalar: Int32)] = [
        (0xA4, 0x20AC), (0xA6, 0x0160), (0xA8, 0x0161), (0xB4, 0x017D), (0xB8, 0x017E), (0xBC, 0x0152),
        (0xBD, 0x0153),
        (0xBE, 0x0178),
    ]

    /// Fills in the map for the encoding with the name `label`; returns `false` if the encoding is unknown.
    static func fill(_ encoding: inout XML_Encoding, label: String) -> Bool {
        var map = (0..<256).map(Int32.init)
        switch label.lowercased() {
        case "windows-1252", "cp1252", "cp-1252", "x-cp1252":
            for (index, scalar) in Windows1252.high.enumerated() { map[0x80 + index] = Int32(scalar) }
        case "iso-8859-15", "iso8859-15", "iso_8859-15", "latin-9", "latin9":
            for (byte, scalar) in latin9 { map[byte] = scalar }
        case "latin1", "latin-1", "iso8859-1", "iso_8859-1", "ascii":
            break
        default:
            return false
        }
        withUnsafeMutableBytes(of: &encoding.map) { target in
            map.withUnsafeBytes { target.copyMemory(from: $0) }
        }
        encoding.data = nil
        encoding.convert = nil
        encoding.release = nil
        return true
    }
}
