import WebSupport

extension FetchFailure {
    /// Creates the failure for an error of the connection. Its kind is `offline` if the network seems to be down.
    ///
    /// - Parameter server: the host and port of the server.
    init(connecting error: any Error, to server: String) {
        let problem = ConnectionProblem(error, to: server)
        switch problem.kind {
        case .cancelled: self.init("the fetch was cancelled", kind: .cancelled)
        case .offline: self.init(problem.reason, kind: .offline)
        case .insecure, .unreachable, .broken, .invalid: self.init(problem.reason)
        }
    }
}
