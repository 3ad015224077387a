import Glibc

/// The file descriptors of this process.
package enum OpenDescriptors {
    /// How many are open; 0 without `/proc`.
    package static var count: Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            // Without the entries `.` and `..`.
            if entry.pointee.d_name.0 != UInt8(ascii: ".") { count += 1 }
        }
        // Without the descriptor of the folder.
        return max(0, count - 1)
    }
}
