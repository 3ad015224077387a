package import BackgrounderAPI
import ControlServer
import Places

extension PlaceFileFault: WireErrorConvertible {
    /// The error as it crosses the socket; its message says what to do.
    package var wireError: WireError {
        switch kind {
        case .unreadable(2): WireError(.notFound, description)
        default: WireError(.invalid, description)
        }
    }
}
