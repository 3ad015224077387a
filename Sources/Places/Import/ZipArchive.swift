import CZip
import Glibc
import SystemSupport

/// The owner of a zip archive that libzip reads. One thread at a time; blocks on the disk.
///
/// libzip rather than libarchive: it reads the files of an archive in any order by their names, and depends on no further library
/// than those that the service needs anyway and libbz2, whereas libarchive depends on libxml2 and with it on ICU.
final class ZipArchive {
    /// A file in the archive.
    struct Entry: Hashable {
        fileprivate var index: UInt64
        /// Bytes, decompressed, as the archive states.
        var size: Int
    }

    /// The files of the archive by their names. Folders are left out.
    let entries: [String: Entry]

    private let archive: OpaquePointer

    /// Opens `file` and checks its list of files.
    ///
    /// Refuses names that leave the folder, repeated names, encryption, and archives that grow beyond all measure.
    init(_ file: ImportFile) throws(ImportFault) {
        try file.check(limit: ImportLimits.archive)
        try ZipDirectory.check(file)
        // libzip closes its descriptor.
        let descriptor = dup(file.descriptor)
        guard descriptor >= 0 else { throw ImportFault(.unreadable(errno)) }
        var code: Int32 = 0
        guard let archive = zip_fdopen(descriptor, 0, &code) else {
            close(descriptor)
            var error = zip_error_t()
            zip_error_init_with_code(&error, code)
            defer { zip_error_fini(&error) }
            throw Self.fault(&error)
        }
        do throws(ImportFault) { entries = try Self.readEntries(archive) } catch {
            zip_discard(archive)
            throw error
        }
        self.archive = archive
    }

    deinit { zip_discard(archive) }

    /// Opens a file in the archive, whose checksum is verified at its end.
    func open(_ entry: Entry) throws(ImportFault) -> ZipEntrySource {
        guard let file = zip_fopen_index(archive, entry.index, 0) else { throw Self.fault(zip_get_error(archive)) }
        return ZipEntrySource(file, archive: self, size: entry.size)
    }

    private static func readEntries(_ archive: OpaquePointer) throws(ImportFault) -> [String: Entry] {
        var entries: [String: Entry] = [:]
        var total = 0
        let count = zip_get_num_entries(archive, 0)
        guard count <= ImportLimits.entries else {
            throw ImportFault(
                .archive("more than \(ImportLimits.entries) files in the archive; a GTFS feed has about 20")
            )
        }
        for index in 0..<UInt64(max(0, count)) {
            var status = zip_stat_t()
            guard zip_stat_index(archive, index, 0, &status) == 0 else { throw fault(zip_get_error(archive)) }
            let name = status.name.map { String(cString: $0) } ?? ""
            try check(name)
            guard status.encryption_method == ZIP_EM_NONE else {
                throw ImportFault(.archive("encrypted; unpack it with its password, and pack it without"), entry: name)
            }
            guard status.size <= UInt64(ImportLimits.decompressed) else { throw bomb(name) }
            let size = Int(status.size)
            if size > ImportLimits.ratioFloor, status.comp_size < status.size / UInt64(ImportLimits.ratio) {
                throw bomb(name)
            }
            total += size
            guard total <= ImportLimits.decompressed else { throw bomb(nil) }
            guard !name.hasSuffix("/") else { continue }
            guard entries.updateValue(Entry(index: index, size: size), forKey: name) == nil else {
                throw ImportFault(.archive("the archive has two files of this name; pack it again"), entry: name)
            }
        }
        return entries
    }

    /// Refuses names that would leave the folder into which an archive is unpacked. Nothing is unpacked here, but such an archive is
    /// an attack on another program.
    private static func check(_ name: String) throws(ImportFault) {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard !name.isEmpty, !name.isAbsolutePath, !parts.contains(".."), !name.utf8.contains(UInt8(ascii: "\\")) else {
            throw ImportFault(.archive("a file named \(quoted(name)) leaves its folder; do not use this archive"))
        }
    }

    private static func bomb(_ name: String?) -> ImportFault {
        ImportFault(.archive("too large when decompressed; do not use this archive"), entry: name)
    }

    /// Returns the fault for an error of libzip.
    static func fault(_ error: UnsafeMutablePointer<zip_error_t>) -> ImportFault {
        let reason =
            switch zip_error_code_zip(error) {
            case ZIP_ER_NOZIP, ZIP_ER_EOF: "not a zip archive, or cut off; download it again"
            case ZIP_ER_CRC: "wrong checksum; download the archive again"
            case ZIP_ER_INCONS: "the archive contradicts itself; download it again"
            case ZIP_ER_ZLIB, ZIP_ER_COMPRESSED_DATA: "damaged compressed data; download the archive again"
            case ZIP_ER_COMPNOTSUPP: "an unusual compression; pack the archive with deflate"
            default: "\(String(cString: zip_error_strerror(error))); download the archive again"
            }
        return ImportFault(.archive(reason))
    }
}

/// The decompressed bytes of a file in an archive.
final class ZipEntrySource: ByteSource {
    private let file: OpaquePointer
    /// Outlives `file`.
    private let archive: ZipArchive
    private var rest: Int

    fileprivate init(_ file: OpaquePointer, archive: ZipArchive, size: Int) {
        self.file = file
        self.archive = archive
        rest = size
    }

    deinit { zip_fclose(file) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(ImportFault) -> Int {
        guard !Task.isCancelled else { throw ImportFault(.cancelled) }
        let count = Int(zip_fread(file, buffer.baseAddress, UInt64(buffer.count)))
        guard count >= 0 else { throw ZipArchive.fault(zip_file_get_error(file)) }
        rest -= count
        guard rest >= 0 else { throw ImportFault(.archive("larger than the archive states; do not use this archive")) }
        guard count > 0 || rest == 0 else {
            throw ImportFault(.archive("smaller than the archive states; download it again"))
        }
        return count
    }
}
