import Glibc

/// The main function of this program, which runs libFuzzer. The build expects this name.
@_cdecl("Fuzzer_main")
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

/// The target that FUZZ_TARGET names.
private let target: FuzzTarget = {
    let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        print("fuzzer: set FUZZ_TARGET to one of \(names)")
        exit(64)
    }
    return target
}()

/// libFuzzer calls this with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

/// libFuzzer calls this to mutate an input.
///
/// Corrects the checksums of Ogg pages; otherwise no changed page would reach a decoder.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: CUnsignedInt) -> Int {
    let count = mutateAtRandom(bytes, count, limit)
    if target == .decoders {
        DecoderTarget.correctSums(UnsafeMutableRawBufferPointer(start: bytes, count: count))
    }
    return count
}

@_silgen_name("LLVMFuzzerMutate")
private func mutateAtRandom(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int) -> Int
