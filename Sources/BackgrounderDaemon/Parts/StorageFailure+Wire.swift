package import BackgrounderAPI
import ControlServer
package import StateStore

extension StorageFailure: WireErrorConvertible {
    /// The error as it crosses the socket.
    package var wireError: WireError {
        WireError(
            .unavailable,
            kind == .damaged
                ? "cannot read a part of the database: \(reason)" : "cannot store the change: \(reason)",
            hint: "run `backgrounder doctor`"
        )
    }
}
