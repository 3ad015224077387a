/// Parses sizes as people write them.
package enum ByteCount {
    /// Returns the bytes of `500`, `20K`, `10M` or `2G`, in powers of 1024; `nil` for anything else, for 0 and on overflow.
    package static func bytes(_ text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let shift: Int64? =
            switch text[digits.endIndex...].uppercased() {
            case "": 0
            case "K", "KB", "KIB": 10
            case "M", "MB", "MIB": 20
            case "G", "GB", "GIB": 30
            default: nil
            }
        guard let shift, let number = Int64(digits), number > 0, number <= Int64.max >> (shift + 1) else { return nil }
        return number << shift
    }
}
