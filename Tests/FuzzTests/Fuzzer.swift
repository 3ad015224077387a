import Glibc

@testable import AudioPlayback

/// The build gives each program a main of this name; here it is the fuzzer's.
@_cdecl("DecoderFuzz_main")
public func fuzz(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt {
    var count = count
    var arguments = arguments
    return runFuzzer(&count, &arguments, testOneInput)
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

/// What libFuzzer calls with each file that it thinks of: the file is opened, described, decoded and sought in.
///
/// Whatever it holds, the decoders must come back, without a fault of memory and without sound from nothing.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let path = writeInput(bytes, count)
    let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 1 << 14)
    defer { buffer.deallocate() }
    do {
        let file = try MediaFile(path: path)
        _ = try openSampleSource(file).metadata()
        for start in [0, 5_000] {
            let source = try openSampleSource(file)
            if start > 0 { try source.seek(toFrame: start) }
            var frames = 0
            reading: while true {
                switch try source.read(into: buffer) {
                case .frames(let count): frames += count
                case .changed: break
                case .end: break reading
                }
                // The densest codecs give a few thousand frames for a byte.
                precondition(frames < 1 << 20 || frames / 10_000 < count, "\(frames) frames of \(count) bytes")
            }
            _ = source.fault?.reason
        }
    } catch {}
    return 0
}

/// The input as a file in memory: the decoders read files.
private func writeInput(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> String {
    precondition(ftruncate(input, 0) == 0 && pwrite(input, bytes, count, 0) == count)
    return "/proc/self/fd/\(input)"
}

private let input: CInt = {
    var name = Array("/dev/shm/decoder-fuzz-XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    precondition(descriptor >= 0 && unlink(name) == 0)
    return descriptor
}()

/// What libFuzzer calls to change an input. The sums of Ogg pages are made right again, or nothing changed in such a file
/// would ever reach a decoder.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: CUnsignedInt) -> Int {
    let count = mutateAtRandom(bytes, count, limit)
    let input = UnsafeMutableRawBufferPointer(start: bytes, count: count)
    var offset = 0
    while offset + 27 <= count, input[offset...].starts(with: "OggS".utf8) {
        let segments = Int(input[offset + 26])
        guard offset + 27 + segments <= count else { break }
        let size = input[offset + 27..<offset + 27 + segments].reduce(27 + segments) { $0 + Int($1) }
        guard offset + size <= count else { break }
        let page = UnsafeMutableRawBufferPointer(rebasing: input[offset..<offset + size])
        let sum = oggSum(of: UnsafeRawBufferPointer(page))
        for index in 0..<4 { page[22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
        offset += size
    }
    return count
}

@_silgen_name("LLVMFuzzerMutate")
private func mutateAtRandom(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int) -> Int
