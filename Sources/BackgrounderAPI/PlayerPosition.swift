/// How far the current item had been heard, kept beside the player's state that it belongs to.
///
/// It is written often and its state seldom: so it names the state, and one of another state is worth nothing.
package struct PlayerPosition: Hashable, Sendable {
    /// The number of the state.
    package var generation: Int
    package var itemID: Int
    /// Seconds.
    package var elapsed: Double

    package init(generation: Int, itemID: Int, elapsed: Double) {
        self.generation = generation
        self.itemID = itemID
        self.elapsed = elapsed
    }
}
