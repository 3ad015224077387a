/// The position in the current item that has been heard, stored beside the player's state.
///
/// The position is written often and the state rarely. The position names its state, and is ignored with another one.
package struct PlayerPosition: Hashable, Sendable {
    /// The number of the state that it belongs to.
    package var generation: Int
    package var itemID: Int
    /// Seconds.
    package var elapsed: Double

    /// Creates a player position.
    package init(generation: Int, itemID: Int, elapsed: Double) {
        self.generation = generation
        self.itemID = itemID
        self.elapsed = elapsed
    }
}
