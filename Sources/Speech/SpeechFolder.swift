import FoundationEssentials
import Glibc
import SystemSupport
import WebSupport

/// The files of the cache. Waits for the disk.
struct SpeechFolder: Sendable {
    /// The end of the name of each file; the rest is a SHA-256.
    static let suffix = ".wav"
    /// The end of the names of files that are being written.
    private static let temporarySuffix = ".part"

    /// An absolute path.
    let path: String

    /// A file of the cache.
    struct File {
        var name: String
        /// Bytes.
        var size: Int
        /// Seconds and nanoseconds of the last use.
        var used: (Int, Int)
    }

    /// Returns the path of the file `name`.
    func path(of name: String) -> String { path + "/" + name }

    /// Creates the folder with mode 0700 if it does not exist.
    ///
    /// - Throws: ``SpeechError/unavailable(_:)`` unless it is a folder of this user that no other user can read.
    func make() throws(SpeechError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw .unavailable("cannot create the folder \(path): \(systemMessage(errno)); check the folder above it")
        }
        var facts = stat()
        guard lstat(path, &facts) == 0 else { throw .unavailable("cannot open \(path): \(systemMessage(errno))") }
        guard facts.st_mode & S_IFMT == S_IFDIR else {
            let kind = facts.st_mode & S_IFMT == S_IFLNK ? "a symbolic link, which is not followed" : "not a folder"
            throw .unavailable("\(path) is \(kind); remove it")
        }
        guard facts.st_uid == geteuid() else {
            throw .unavailable("\(path) belongs to user \(facts.st_uid), not to this user; remove it")
        }
        guard facts.st_mode & 0o077 != 0 else { return }
        guard facts.st_mode & 0o022 == 0, chmod(path, 0o700) == 0 else {
            throw .unavailable("other users can write to \(path); check its files, and run chmod go-w on it")
        }
    }

    /// Returns the files of the cache, the least recently used first, and removes what an earlier process left
    /// unfinished. Other files are ignored.
    func files() -> [File] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        var files: [File] = []
        for name in names {
            if name.hasSuffix(Self.temporarySuffix), SHA256.isDigest(String(name.dropLast(Self.temporarySuffix.count)))
            {
                unlink(path(of: name))
            }
            var facts = stat()
            guard name.hasSuffix(Self.suffix), SHA256.isDigest(String(name.dropLast(Self.suffix.count))),
                lstat(path(of: name), &facts) == 0, facts.st_mode & S_IFMT == S_IFREG
            else { continue }
            let used = (facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec)
            files.append(File(name: name, size: Int(facts.st_size), used: used))
        }
        return files.sorted { $0.used < $1.used }
    }

    /// Returns the size of the file `name`, and marks it as used now; `nil` if it is missing or damaged.
    func use(_ name: String) -> Int? {
        let descriptor = open(path(of: name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        var header = [UInt8](repeating: 0, count: WaveFile.headerSize)
        guard read(descriptor, &header, header.count) == header.count,
            WaveFile.isHeader(header, ofFileWith: Int(facts.st_size))
        else { return nil }
        futimens(descriptor, nil)
        return Int(facts.st_size)
    }

    /// Writes the file `name`, which appears complete or not at all.
    ///
    /// It is not flushed to the disk: after a power cut a damaged file is rendered again.
    ///
    /// - Throws: ``SpeechError``; nothing is left of the file then.
    func write(_ content: Data, to name: String) throws(SpeechError) {
        try make()
        let temporary = path(of: name.dropLast(Self.suffix.count) + Self.temporarySuffix)
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.writeError(errno, path) }
        var code: CInt = 0
        content.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty, code == 0 {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { code = errno }
            }
        }
        // Some file systems report a full disk only now.
        if close(descriptor) != 0, code == 0 { code = errno }
        if code == 0, rename(temporary, path(of: name)) != 0 { code = errno }
        guard code != 0 else { return }
        unlink(temporary)
        throw Self.writeError(code, path)
    }

    /// Removes the file `name`.
    func remove(_ name: String) { unlink(path(of: name)) }

    private static func writeError(_ code: CInt, _ path: String) -> SpeechError {
        .failed("cannot write to \(path): \(systemMessage(code)); check the space and the modes there")
    }
}
