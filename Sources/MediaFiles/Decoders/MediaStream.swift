/// The bytes of sound from the network, in order. One thread reads, and another may cancel.
package protocol MediaStream: AnyObject, Sendable {
    /// The size of the whole file in bytes; nil if it is unknown, as for a live stream. Known once bytes were read.
    var size: Int? { get }
    /// Why there are no more bytes; nil at the regular end, and after ``cancel()``.
    var failure: String? { get }

    /// Copies up to `count` bytes into `memory`, and blocks until there is at least one. Returns 0 at the end.
    func read(into memory: UnsafeMutableRawPointer, count: Int) -> Int
    /// Continues at a byte of the file.
    func jump(to offset: Int)
    /// Ends the stream; a read that blocks returns immediately.
    func cancel()
}
