import Testing

@testable import MusicLibrary

@Suite struct LibraryMailboxTests {
    private let mailbox = LibraryMailbox()

    @Test func `a job that a waiting job already covers is not added`() {
        #expect(mailbox.add("a", rescan: false) == 1)
        #expect(mailbox.add("a", rescan: false) == 1)
        #expect(mailbox.add("a", rescan: true) == 2)
        #expect(mailbox.add("a", rescan: false) == 1)
        #expect(mailbox.add("", rescan: false) == 3)
        #expect(mailbox.add("b", rescan: false) == 3)
        #expect(mailbox.add("b", rescan: true) == 4)
    }

    @Test func `when the mailbox is full, the waiting jobs become one scan of everything`() {
        for number in 1...32 { #expect(mailbox.add("folder \(number)", rescan: number == 5) == number) }
        #expect(mailbox.add("folder 33", rescan: false) == 33)
        #expect(mailbox.add("folder 34", rescan: true) == 33)
        #expect(mailbox.next() == LibraryMailbox.Job(number: 33, path: "", rescan: true))
        #expect(mailbox.next() == nil)
    }
}
