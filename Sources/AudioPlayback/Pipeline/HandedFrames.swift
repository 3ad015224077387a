/// The frames that a device was handed since it was opened.
struct HandedFrames {
    private(set) var total = 0
    private var music = 0
    /// The music since an announcement that held it, and that announcement.
    private var musicRun = 0
    private var announcedRun = 0

    mutating func add(_ frames: Int) { total += frames }

    mutating func add(_ frames: Int, isMusic: Bool) {
        total += frames
        if isMusic {
            music += frames
            musicRun += frames
        } else {
            if musicRun > 0 { (musicRun, announcedRun) = (0, 0) }
            announcedRun += frames
        }
    }

    /// Returns the frames of music that a device with a buffer of `buffer` frames may hold, and those of an announcement
    /// before them: music after an announcement that held it is heard only once the announcement's frames have been.
    func held(buffer: Int) -> (music: Int, before: Int) {
        let before = min(announcedRun, max(0, buffer - musicRun))
        return (min(buffer - before, music), before)
    }
}
