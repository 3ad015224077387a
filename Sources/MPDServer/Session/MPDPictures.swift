import Synchronization

/// A cache of the one picture that a client is reading in parts, so that its file is read only once.
final class MPDPictures: Sendable {
    private struct Reading {
        var key: String
        var picture: MPDPicture
        var reader: ObjectIdentifier
    }

    private let last = Mutex<Reading?>(nil)

    func find(_ key: String) -> MPDPicture? {
        last.withLock { $0?.key == key ? $0?.picture : nil }
    }

    /// Caches a picture.
    ///
    /// - Parameter picture: `nil` if `reader` has read all of it.
    func store(_ picture: MPDPicture?, _ key: String, for reader: ObjectIdentifier) {
        last.withLock { last in
            if let picture {
                last = Reading(key: key, picture: picture, reader: reader)
            } else if last?.key == key {
                last = nil
            }
        }
    }

    /// Drops the picture if `reader` was reading it.
    func forget(_ reader: ObjectIdentifier) {
        last.withLock { last in
            if last?.reader == reader { last = nil }
        }
    }
}
