extension Double {
    /// Rounded to `places` digits behind the point, with `+` where `signed` asks for it: C's `%.Nf` and `%+.Nf` for numbers
    /// of up to 15 digits.
    package func decimals(_ places: Int, signed: Bool = false) -> String {
        guard isFinite else { return description }
        var scale: Int64 = 1
        for _ in 0..<places { scale *= 10 }
        guard let scaled = Int64(exactly: (magnitude * Double(scale)).rounded()) else { return description }
        let sign = self < 0 && scaled != 0 ? "-" : signed ? "+" : ""
        guard places > 0 else { return "\(sign)\(scaled)" }
        let fraction = String(scaled % scale)
        return "\(sign)\(scaled / scale)." + String(repeating: "0", count: places - fraction.count) + fraction
    }
}
