import FoundationEssentials

/// Returns the kernel's id of this boot (random(4)); `nil` if it cannot be read. Blocks on I/O.
package func currentBootID() -> String? {
    guard let data = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id") else { return nil }
    let id = String(decoding: data, as: UTF8.self).filter { !$0.isWhitespace }
    return id.isEmpty ? nil : id
}
