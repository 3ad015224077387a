extension Double {
    /// Rounded to `places` digits behind the point, with `+` where `signed` asks for it: C's `%.Nf` and `%+.Nf` for numbers
    /// of up to 15 digits, but zero is never negative.
    package func decimals(_ places: Int, signed: Bool = false) -> String {
        guard isFinite else { return description }
        var scale: Int64 = 1
        for _ in 0..<places { scale *= 10 }
        guard let scaled = Int64(exactly: magnitude.timesRounded(Double(scale))) else { return description }
        let sign = self < 0 && scaled != 0 ? "-" : signed ? "+" : ""
        guard places > 0 else { return "\(sign)\(scaled)" }
        let fraction = String(scaled % scale)
        return "\(sign)\(scaled / scale)." + String(repeating: "0", count: places - fraction.count) + fraction
    }
}

extension Double {
    /// The whole number nearest to the exact product, and of two the even one, as C rounds; the product itself is already
    /// rounded, and 1.115 × 100 would be over 111.5.
    fileprivate func timesRounded(_ factor: Double) -> Double {
        let product = self * factor
        let lost = (-product).addingProduct(self, factor)
        let whole = product.rounded(.down)
        let beyondHalf = product - whole - 0.5
        if beyondHalf != 0 || lost == 0 { return product.rounded(.toNearestOrEven) }
        return lost > 0 ? whole + 1 : whole
    }
}
