import Foundation
import TestSupport

/// A zip archive that Python makes. Tests damage its bytes.
struct TestArchive {
    /// A file of the archive.
    struct Entry: Encodable {
        var name: String
        var text = ""
        /// How often the text is repeated.
        var count = 1
        /// The compression method of zipfile: 0 stored, 8 deflated, 12 bzip2, 14 LZMA.
        var method = 8
    }

    static let agency = "agency_name,agency_url,agency_timezone\nA,http://a,Europe/Berlin\n"
    static let stops = """
        stop_id,stop_name,stop_lat,stop_lon,location_type,stop_code,zone_id
        s1,"First, north",52.1,13.1,0,c1,
        st,Station,52.2,13.2,1,,
        e1,Entrance,52.2,13.2,2,,
        n1,,,,3,,
        s2,Second,52.3,13.3,,c2,B

        """

    /// Writes an archive of `entries` and returns its path.
    static func make(_ entries: [Entry], in scratch: ScratchDirectory, _ name: String = "feed.zip") async throws
        -> String
    {
        let script = """
            import json, sys, zipfile, warnings
            warnings.simplefilter("ignore")
            with zipfile.ZipFile(sys.argv[2], "w") as archive:
                for entry in json.load(open(sys.argv[1])):
                    info = zipfile.ZipInfo(entry["name"])
                    info.compress_type = entry["method"]
                    with archive.open(info, "w") as file:
                        text = entry["text"].encode() * 1000
                        for _ in range(entry["count"] // 1000): file.write(text)
                        file.write(entry["text"].encode() * (entry["count"] % 1000))
            """
        let list = try scratch.write(try JSONEncoder().encode(entries), to: "entries.json")
        try await Tool.run("/usr/bin/python3", "-c", script, list, scratch.file(name))
        return scratch.file(name)
    }

    /// Writes an archive of these texts by their names.
    static func make(_ files: [String: String], in scratch: ScratchDirectory, _ name: String = "feed.zip") async throws
        -> String
    {
        try await make(files.sorted { $0.key < $1.key }.map { Entry(name: $0.key, text: $0.value) }, in: scratch, name)
    }
}
