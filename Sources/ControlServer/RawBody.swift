import BackgrounderAPI
import FoundationEssentials
import Hummingbird
import HummingbirdCore
import NIOCore

/// Reads the body of a request, at most 1 MiB.
enum RawBodyReader {
    static let limit = 1 << 20

    static func read(_ request: Request) async throws -> RawBody {
        let tooLarge = WireError(.tooLarge, "the body is larger than 1 MiB", hint: "send less")
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLarge }
        do {
            var buffer = try await request.body.collect(upTo: limit)
            return RawBody(bytes: Data(buffer.readBytes(length: buffer.readableBytes) ?? []))
        } catch is NIOTooManyBytesError {
            throw tooLarge
        } catch {
            throw WireError(.badRequest, "the body is incomplete", hint: "check its length and its chunks")
        }
    }
}

/// An unchecked body; an empty one stands for `{}`.
struct RawBody {
    var bytes = Data()

    /// Decodes the body.
    ///
    /// - Throws: `badRequest` if it is not JSON, `invalid` if it is not an object with the fields of `type`.
    func decode<Body: RouteBody>(_ type: Body.Type) throws(WireError) -> Body {
        let bytes = bytes.isEmpty ? Data("{}".utf8) : bytes
        guard JSONSyntax.isValid(bytes) else {
            throw WireError(.badRequest, "the body is not valid JSON", hint: "send a JSON object")
        }
        let takes =
            Body.keys.isEmpty ? "this route accepts {}" : "this route accepts \(Body.keys.joined(separator: ", "))"
        guard let keys = try? JSON.decode(Keys.self, from: bytes) else {
            throw WireError(.invalid, "the body is not a JSON object", hint: takes)
        }
        if let unknown = keys.names.first(where: { !Body.keys.contains($0) }) {
            throw WireError(.invalid, "unknown key \(unknown.debugDescription)", hint: takes)
        }
        if let null = keys.nulls.first(where: { !Body.nullableKeys.contains($0) }) {
            throw WireError(.invalid, "\(null) is null", hint: "omit it, or use a value")
        }
        do {
            return try JSON.decode(type, from: bytes)
        } catch let error as DecodingError {
            throw WireError(.invalid, error.summary, hint: takes)
        } catch {
            throw WireError(.invalid, "\(error)", hint: takes)
        }
    }
}

/// The keys of an object, and the keys with the value null.
private struct Keys: Decodable {
    struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            nil
        }
    }

    var names: [String]
    var nulls: [String]

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        names = container.allKeys.map(\.stringValue).sorted()
        nulls = try container.allKeys.filter { try container.decodeNil(forKey: $0) }.map(\.stringValue).sorted()
    }
}

extension DecodingError {
    /// Returns the expected kind of value, without Swift's type names.
    private static func words(for type: Any.Type) -> String {
        switch type {
        case is Bool.Type: "true or false"
        case is String.Type: "a text"
        case is Double.Type, is Int.Type: "a number"
        case is [Any].Type: "a list"
        case is [String: Any].Type: "an object"
        default: "a value of another type"
        }
    }

    /// The key and its fault in one line.
    fileprivate var summary: String {
        switch self {
        case .keyNotFound(let key, _): "\(key.stringValue) is missing"
        case .typeMismatch(let type, let context): "\(context.path) must be \(Self.words(for: type))"
        case .valueNotFound(let type, let context): "\(context.path) must be \(Self.words(for: type)), not null"
        // The body is known to be JSON, so a fault without a path can only be a number, such as a fraction for a count.
        case .dataCorrupted(let context) where context.codingPath.isEmpty: "a number in the body is out of range"
        case .dataCorrupted(let context): context.refusedWord ?? "\(context.path): \(context.debugDescription)"
        @unknown default: "the body is not in the form that this route accepts"
        }
    }
}

extension DecodingError.Context {
    /// The standard library's message about an unknown enumeration word, without Swift's type names.
    fileprivate var refusedWord: String? {
        guard let mark = debugDescription.firstRange(of: " from invalid String value ") else { return nil }
        return "\(path) cannot be \(debugDescription[mark.upperBound...].debugDescription)"
    }

    fileprivate var path: String {
        codingPath.isEmpty ? "the body" : codingPath.map(\.stringValue).joined(separator: ".")
    }
}
