import BackgrounderAPI

extension Rejection {
    /// The value and the limit for display: `accuracy 48.3 m, limit 30 m`.
    var measure: String {
        var text =
            switch reason {
            case .accuracy where value == nil: "2D, but 3D is required"
            case .accuracy: "accuracy"
            case .noAccuracy: "accuracy unknown"
            case .invalid: "no valid position and time"
            case .outOfOrder: "back in time by"
            case .implausible: "implausible speed"
            default: reason.rawValue
            }
        if let value = value.flatMap(Self.tenths) { text += " \(value) \(reason.unit)" }
        if let limit = limit.flatMap(Self.tenths), limit != "0" { text += ", limit \(limit) \(reason.unit)" }
        return text
    }

    /// Returns the command that would accept fixes like this one; `nil` if there is none.
    func remedy(_ settings: LocationSettings, isFromReceiver: Bool) -> String? {
        let levels = DesiredAccuracy.allCases
        let level: DesiredAccuracy?
        switch (reason, value) {
        case (.accuracy, let value?):
            level = levels.first { ($0.acceptLimit ?? .infinity) >= value }
        case (.accuracy, nil):
            level = .best
        case (.noAccuracy, _):
            level = isFromReceiver ? levels.first { $0.acceptLimit == nil } : settings.desiredAccuracy
        default:
            return nil
        }
        guard let level else { return nil }
        let isTooFine = levels.drop { $0 != settings.desiredAccuracy }.dropFirst().contains(level)
        let isStrict = settings.maximumAccuracy.map { $0 < value ?? (reason == .noAccuracy ? .infinity : 0) } ?? false
        let commands = [
            isTooFine ? "`location accuracy \(level.rawValue)`" : nil, isStrict ? "`location maximum none`" : nil,
        ].compactMap(\.self)
        return commands.isEmpty ? nil : commands.joined(separator: " and ")
    }

    /// The value with one decimal; `nil` if it is too large to mean anything.
    private static func tenths(_ value: Double) -> String? {
        guard value.magnitude < 1e15 else { return nil }
        let tenths = Int64((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\((tenths % 10).magnitude)"
    }
}
