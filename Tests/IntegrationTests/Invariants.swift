import BackgrounderAPI
import Testing

/// Expects what is true of every state that the service reports, at any time.
func expectInvariants(_ state: StateSnapshot, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let location = try #require(state.status.location, sourceLocation: sourceLocation)
    #expect(location.received == location.accepted + location.rejected.total, sourceLocation: sourceLocation)
    #expect(state.track.count <= 100, sourceLocation: sourceLocation)
    expectOrder(state.track, sourceLocation: sourceLocation)
}

/// Expects the points of each segment to be in the order of time.
func expectOrder(_ track: [Location], sourceLocation: SourceLocation = #_sourceLocation) {
    for (earlier, later) in zip(track, track.dropFirst()) where later.segmentStart != true {
        #expect(earlier.timestamp < later.timestamp, sourceLocation: sourceLocation)
    }
}
