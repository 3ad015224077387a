import BackgrounderAPI
import CExpat
import FoundationEssentials
import Glibc
import SystemSupport

/// Turns expat's events into track points. It runs inside `XML_ParseBuffer`, on that thread, and works on expat's bytes, because
/// a string for each element would cost more than the parsing.
final class GPXContent {
    private(set) var points: [TrackPoint] = []
    /// Why and at which line the parser was stopped.
    private(set) var refusal: (line: Int, kind: TrackFault.Kind)?

    private let parser: XML_Parser
    private let start: Date?
    private let text: UnsafeMutableBufferPointer<UInt8>
    private var textCount = 0
    private var isTextCut = false

    private static let nestingLimit = 64
    /// Bytes.
    private static let textLimit = 4096

    private var names = GPXNames()
    private var depth = 0
    private var point = GPXPoint()
    /// The depth of the open point; 0 outside of one.
    private var pointDepth = 0
    private var field: GPXField?
    private var fieldDepth = 0
    private var fieldRank = 0
    private var count = 0
    private var opensSegment = true
    private var hasTime = false

    /// Creates the content handler of `parser`, which must outlive it and must not have another one.
    init(parser: XML_Parser, start: Date?) {
        self.parser = parser
        self.start = start.map { Date(timeIntervalSince1970: ($0.timeIntervalSince1970 * 1000).rounded() / 1000) }
        text = .allocate(capacity: Self.textLimit)
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { context, name, attributes in
                guard let name, let attributes else { return }
                GPXContent.with(context) { $0.startElement(name, attributes) }
            },
            { context, _ in GPXContent.with(context) { $0.endElement() } }
        )
        XML_SetCharacterDataHandler(parser) { context, bytes, count in
            guard let bytes else { return }
            GPXContent.with(context) { $0.characters(bytes, Int(count)) }
        }
        XML_SetStartDoctypeDeclHandler(parser) { context, name, _, _, _ in
            GPXContent.with(context) { $0.refuse(name.map(GPXNames.isHTML) == true ? .html : .doctype) }
        }
        XML_SetUnknownEncodingHandler(parser, cexpat_any_encoding, nil)
    }

    deinit { text.deallocate() }

    func takePoints() -> [TrackPoint] {
        defer {
            points = []
            points.reserveCapacity(512)
        }
        return points
    }

    /// Calls `body` without retaining the content: the reader holds it, and a retain for each event would be a tenth of the work.
    private static func with(_ context: UnsafeMutableRawPointer?, _ body: (GPXContent) -> Void) {
        guard let context else { return }
        Unmanaged<GPXContent>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
    }

    private func refuse(_ kind: TrackFault.Kind) {
        guard refusal == nil else { return }
        refusal = (cexpat_line(parser), kind)
        XML_StopParser(parser, 0)
    }

    private func startElement(
        _ name: UnsafePointer<CChar>,
        _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>
    ) {
        guard refusal == nil else { return }
        depth += 1
        guard depth <= Self.nestingLimit else { return refuse(.tooDeep(limit: Self.nestingLimit)) }
        if pointDepth > 0 {
            if attributes[0] != nil { names.declare(attributes) }
            if field == nil { openField(name, attributes) }
        } else {
            let local = GPXNames.localName(name)
            if strcmp(local, "trkpt") == 0 {
                openPoint(name, local, attributes)
            } else {
                if depth == 1, GPXNames.isHTML(local) { return refuse(.html) }
                names.declare(attributes)
                if strcmp(local, "trkseg") == 0 || strcmp(local, "trk") == 0 { opensSegment = true }
            }
        }
    }

    private func openPoint(
        _ name: UnsafePointer<CChar>,
        _ local: UnsafePointer<CChar>,
        _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>
    ) {
        pointDepth = depth
        names.setCore(name, local)
        point = GPXPoint()
        GPXNames.each(attributes) { key, value in
            if strcmp(key, "lat") == 0 {
                point.latitude = DecimalNumber.parse(value)
            } else if strcmp(key, "lon") == 0 {
                point.longitude = DecimalNumber.parse(value)
            }
        }
    }

    private func openField(
        _ name: UnsafePointer<CChar>,
        _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>
    ) {
        let local = GPXNames.localName(name)
        let family = names.family(name, local)
        guard family != .foreign else { return }
        let isCore = depth == pointDepth + 1 && family == .core
        // One maker's loggers put the accuracy into an attribute.
        if family == .known, strcmp(local, "trkpt") == 0 {
            GPXNames.each(attributes) { key, value in
                if strcmp(key, "accuracy") == 0 { point.set(.accuracy, DecimalNumber.parse(value), rank: 1) }
            }
        }
        guard let found = GPXField(local, isCore: isCore) else { return }
        field = found
        fieldDepth = depth
        fieldRank = family == .own ? 3 : isCore ? 2 : 1
        textCount = 0
        isTextCut = false
    }

    private func endElement() {
        guard refusal == nil else { return }
        if let field, depth == fieldDepth {
            if !isTextCut { closeField(field) }
            self.field = nil
        } else if pointDepth > 0, depth == pointDepth {
            closePoint()
        }
        depth -= 1
    }

    private func characters(_ bytes: UnsafePointer<CChar>, _ count: Int) {
        guard field != nil, depth == fieldDepth, !isTextCut else { return }
        guard textCount + count <= text.count, let target = text.baseAddress else {
            isTextCut = true
            return
        }
        memcpy(target + textCount, bytes, count)
        textCount += count
    }

    private func closeField(_ field: GPXField) {
        let bytes = UnsafeBufferPointer(rebasing: text[..<textCount])
        switch field {
        case .time: point.time = GPXPoint.time(bytes)
        case .fix: point.mode = GPXPoint.mode(bytes)
        case .accuracySource:
            if fieldRank == 3 {
                point.accuracySource = AccuracySource(rawValue: String(decoding: bytes, as: UTF8.self))
            }
        default: point.set(field, DecimalNumber.parse(bytes), rank: fieldRank)
        }
    }

    private func closePoint() {
        pointDepth = 0
        if point.time != nil {
            hasTime = true
        } else if !hasTime, let start {
            point.time = start.addingTimeInterval(Double(count))
        }
        points.append(TrackPoint(index: count, fix: point.fix(opensSegment: opensSegment)))
        opensSegment = false
        count += 1
    }
}
