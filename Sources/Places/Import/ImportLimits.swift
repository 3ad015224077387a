/// The limits of imported files. They bound memory and time; real files stay far below them.
enum ImportLimits {
    static let places = 100_000
    /// Positions of the polygons and lines of a file, or of a route's shape: 16 MB.
    static let vertices = 1_000_000
    /// Bytes of a text file, which is read in blocks.
    static let textFile = 512 << 20
    /// Bytes of a GTFS archive.
    static let archive = 1 << 30
    /// Bytes of the names, tags and properties of a file, counting 64 for each property.
    static let text = 64 << 20
    /// Bytes.
    static let name = 256
    static let sourceId = 256
    static let tags = 32
    static let tag = 64
    static let properties = 64
    static let propertyName = 128
    static let propertyValue = 16_384
    /// Levels of JSON and XML.
    static let nesting = 64
    /// Bytes of a block of reading, of a line of CSV, and of a tag or comment of XML.
    static let block = 1 << 16
    static let record = 1 << 20
    static let token = 8 << 20
    static let columns = 256
    /// Stops of a route.
    static let stops = 10_000

    /// The files in an archive, and the bytes of its list of files.
    static let entries = 1_000
    static let directory = 1 << 20
    /// Bytes of all files in an archive, decompressed. The largest feeds of whole countries have 5 GB.
    static let decompressed = 8 << 30
    /// How many times larger than its compressed bytes a file may be, from `ratioFloor` bytes on. Times of departure are
    /// compressed to a twentieth.
    static let ratio = 200
    static let ratioFloor = 64 << 20
}
