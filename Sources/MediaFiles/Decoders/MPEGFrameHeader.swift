/// The four-byte header of an MPEG audio frame (ISO/IEC 11172-3, 2.4.1.3, and 13818-3; MPEG 2.5 is an unofficial extension).
struct MPEGFrameHeader: Equatable {
    /// The sample rate in Hz.
    let rate: Int
    /// The size of the whole frame; nil in the free format, where only the next header tells.
    private let bytes: Int?
    private let paddingBytes: Int
    /// The size of layer III's side information, which lies between the header and the samples, or an Xing or Info header.
    let sideInformationBytes: Int

    static let size = 4

    /// Returns nil if the bytes do not begin a frame.
    init?(_ header: some Collection<UInt8>) {
        let header = Array(header.prefix(Self.size))
        guard header.count == Self.size, header[0] == 0xFF, header[1] & 0xE0 == 0xE0 else { return nil }
        let version = Int(header[1] >> 3 & 3)  // 0: 2.5, 2: 2, 3: 1
        let layer = 4 - Int(header[1] >> 1 & 3)
        let bitrate = Int(header[2] >> 4)
        let rate = Int(header[2] >> 2 & 3)
        guard version != 1, layer < 4, bitrate < 15, rate < 3 else { return nil }
        let isFirst = version == 3
        self.rate = [44_100, 48_000, 32_000][rate] >> (isFirst ? 0 : version == 2 ? 1 : 2)
        let isMono = header[3] >> 6 == 3
        sideInformationBytes = isFirst ? (isMono ? 17 : 32) : (isMono ? 9 : 17)
        paddingBytes = Int(header[2] >> 1 & 1) * (layer == 1 ? 4 : 1)
        guard bitrate > 0 else {
            bytes = nil
            return
        }
        let bits = 1000 * Self.kilobits[isFirst ? layer - 1 : layer == 1 ? 3 : 4][bitrate - 1]
        bytes =
            switch layer {
            case 1: 12 * bits / self.rate * 4 + paddingBytes
            case 3 where !isFirst: 72 * bits / self.rate + paddingBytes
            default: 144 * bits / self.rate + paddingBytes
            }
    }

    /// Returns the size of the whole frame. A frame of the free format has its neighbour's size, apart from padding.
    func frameBytes(neighbour: (header: Self, bytes: Int)?) -> Int? {
        bytes ?? neighbour.map { $0.bytes - $0.header.paddingBytes + paddingBytes }
    }

    /// The bit rates of layers I, II and III of MPEG 1, then of layer I and the others of MPEG 2.
    private static let kilobits = [
        [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]
}
