import Foundation
import FoundationXML

/// A well-formed XML document as a tree; names have their prefixes.
package final class XMLTree {
    package let name: String
    package let attributes: [String: String]
    package private(set) var children: [XMLTree] = []
    /// The characters directly inside the element.
    package private(set) var text = ""

    private init(name: String, attributes: [String: String]) {
        (self.name, self.attributes) = (name, attributes)
    }

    /// The first child of this name.
    package subscript(name: String) -> XMLTree? {
        children.first { $0.name == name }
    }

    /// - Throws: The error of the parser if `text` is not well-formed.
    package static func parse(_ text: String) throws -> XMLTree {
        let builder = Builder()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = builder
        guard parser.parse(), let root = builder.root else {
            throw Malformed(reason: parser.parserError.map { "\($0)" } ?? "empty")
        }
        return root
    }

    package struct Malformed: Error {
        package var reason: String
    }

    private final class Builder: NSObject, XMLParserDelegate {
        var root: XMLTree?
        private var open: [XMLTree] = []

        func parser(
            _ parser: XMLParser,
            didStartElement name: String,
            namespaceURI: String?,
            qualifiedName: String?,
            attributes: [String: String]
        ) {
            let element = XMLTree(name: name, attributes: attributes)
            open.last?.children.append(element)
            if root == nil { root = element }
            open.append(element)
        }

        func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
            open.removeLast()
        }

        func parser(_ parser: XMLParser, foundCharacters text: String) {
            open.last?.text += text
        }
    }
}
