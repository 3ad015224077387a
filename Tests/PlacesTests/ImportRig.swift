import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import Places

/// A folder with files to import.
struct ImportRig {
    let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    /// Reads the places of a file with this content.
    func places(_ content: some Sequence<UInt8>, _ name: String = "file") throws -> [PlaceDefinition] {
        try PlaceFile.read(try scratch.write(content, to: name))
    }

    func places(_ content: String, _ name: String = "file") throws -> [PlaceDefinition] {
        try places(content.utf8, name)
    }

    /// Returns the message with which a file with this content is refused, without the path of the folder.
    func refusal(_ content: some Sequence<UInt8>, _ name: String = "file") throws -> String {
        message(try scratch.write(content, to: name)) { path throws(PlaceFileFault) in _ = try PlaceFile.read(path) }
    }

    func refusal(_ content: String, _ name: String = "file") throws -> String { try refusal(content.utf8, name) }

    /// Returns the message of the fault of `body`, without the path of the folder; "accepted" if it does not throw.
    func message(_ path: String, _ body: (String) throws(PlaceFileFault) -> Void) -> String {
        do throws(PlaceFileFault) {
            try body(path)
            return "accepted"
        } catch {
            return error.description.replacing(scratch.path + "/", with: "")
        }
    }

    /// Returns a FeatureCollection of these features.
    static func collection(_ features: String...) -> String {
        #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
    }

    /// Returns a feature with these coordinates.
    static func feature(
        _ type: String = "Point",
        _ coordinates: String = "[13.4,52.5]",
        properties: String = #""name":"A""#
    ) -> String {
        #"{"type":"Feature","geometry":{"type":"\#(type)","coordinates":\#(coordinates)},"properties":{\#(properties)}}"#
    }
}

extension PlaceDefinition {
    /// The centre and radius of a circle.
    var circle: [Double]? {
        guard case .circle(let center, let radius) = shape else { return nil }
        return [center.latitude, center.longitude, radius]
    }
}
