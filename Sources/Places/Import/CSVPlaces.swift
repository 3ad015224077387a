import BackgrounderAPI

/// Reads places from CSV with the columns `name`, `latitude` and `longitude`, and perhaps `id`, `radius`, `tags`, `course` and
/// `tolerance`. All others become properties. An empty field counts as absent.
enum CSVPlaces {
    /// Reads all records of `source` and returns their places.
    static func read(_ source: any ByteSource, _ collector: PlaceCollector) throws(ImportFault) -> [PlaceDefinition] {
        var collector = collector
        var reader = try CSVReader(source)
        let columns = try CSVColumns(reader.columns)
        while try reader.next() {
            do throws(ImportFault) { try collector.add(try place(reader, columns), number: reader.line) } catch {
                throw error.with(line: reader.line)
            }
        }
        guard !collector.places.isEmpty else {
            throw ImportFault(.unsuitable("no places; add a line below the header"))
        }
        return collector.places
    }

    private static func place(_ reader: borrowing CSVReader, _ columns: CSVColumns) throws(ImportFault)
        -> PlaceDefinition
    {
        let center = try PlaceNumber.coordinate(
            latitude: reader.bytes(columns.latitude),
            longitude: reader.bytes(columns.longitude)
        )
        var place = PlaceDefinition(
            name: try reader.text(columns.name),
            shape: .circle(center: center, radius: PlaceNumber.defaultRadius)
        )
        for (index, column) in columns.others {
            let text = try reader.text(index)
            guard !text.isEmpty else { continue }
            switch column {
            case .radius: place.shape = .circle(center: center, radius: try PlaceNumber.metres(text, "the radius"))
            case .tags: place.tags = PlaceCollector.tags(text)
            case .course: place.course = try PlaceNumber.course(text)
            case .tolerance: place.tolerance = try PlaceNumber.tolerance(text)
            case .id: place.sourceId = text
            case .property(let name): place.properties[name] = text
            }
        }
        return place
    }
}

/// The meaning of the columns of a file.
private struct CSVColumns {
    enum Other {
        case radius, tags, course, tolerance, id
        case property(String)
    }

    let name: Int
    let latitude: Int
    let longitude: Int
    private(set) var others: [(Int, Other)] = []

    /// Finds the columns by their names, in upper or lower case and in any order.
    init(_ columns: [String]) throws(ImportFault) {
        var indices: [String: Int] = [:]
        for (index, column) in columns.enumerated() where !column.isEmpty {
            guard indices.updateValue(index, forKey: column.lowercased()) == nil else {
                throw ImportFault(.unsuitable("the column \(quoted(column)) appears twice; rename one"), line: 1)
            }
        }
        func required(_ column: String) throws(ImportFault) -> Int {
            if let index = indices.removeValue(forKey: column) { return index }
            let separator = columns.count == 1 ? columns[0].first { $0 == ";" || $0 == "\t" } : nil
            guard let separator else {
                throw ImportFault(
                    .missing("the column \(quoted(column))", remedy: "name the columns in the first line"),
                    line: 1
                )
            }
            let word = separator == ";" ? "semicolons" : "tabs"
            throw ImportFault(.unsuitable("the columns are separated by \(word); separate them by commas"), line: 1)
        }
        name = try required("name")
        latitude = try required("latitude")
        longitude = try required("longitude")
        for index in indices.values.sorted() {
            switch columns[index].lowercased() {
            case "radius": others.append((index, .radius))
            case "tags": others.append((index, .tags))
            case "course": others.append((index, .course))
            case "tolerance": others.append((index, .tolerance))
            case "id": others.append((index, .id))
            default: others.append((index, .property(columns[index])))
            }
        }
    }
}
