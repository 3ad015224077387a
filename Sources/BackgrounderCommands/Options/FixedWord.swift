import ArgumentParser
import SystemSupport

/// An argument that is one of a few fixed words, in upper or lower case: `warning` or `WARNING`.
protocol FixedWord: ExpressibleByArgument, CaseIterable, RawRepresentable where RawValue == String {}

extension FixedWord {
    init?(argument: String) { self.init(ignoringCase: argument) }
}
