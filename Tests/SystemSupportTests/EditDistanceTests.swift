import SystemSupport
import Testing

@Suite struct EditDistanceTests {
    @Test(
        arguments: [
            ("", "abc", 3), ("abc", "abc", 0), ("statsu", "status", 1), ("tirps", "trips", 1), ("ab", "ba", 1),
            ("kitten", "sitting", 3), ("abc", "", 3),
        ]
    )
    func `the edit distance counts an exchange of neighbours once`(from: String, to: String, distance: Int) {
        #expect(from.editDistance(to: to) == distance)
    }
}
