import SystemSupport

/// The output thread's side of the pipeline. `thread` is the number it was started with; an abandoned thread only gets
/// `retire`.
extension Pipeline {
    func nextOrder(thread: Int, device: OpenDevice?, into samples: UnsafeMutablePointer<Int16>?) -> OutputOrder {
        monitor.wait(as: .output) { $0.nextOrder(thread: thread, device: device, into: samples) }
    }

    // Each of these returns false if the thread was abandoned meanwhile.

    func opened(thread: Int, _ device: OpenDevice) -> Bool { report(thread: thread) { $0.output.opened(device) } }

    func notOpened(thread: Int, reason: String) -> Bool {
        report(thread: thread) { $0.output.fail(.notOpened(reason: reason)) }
    }

    /// Reports that the device took `frames`. It holds at most `buffer` frames.
    func played(thread: Int, frames: Int, buffer: Int, rate: Int) -> Bool {
        monitor.withLock { state in
            guard state.threads.isCurrent(thread, .output) else { return false }
            state.output.returned()
            let now = MonotonicTime.now.nanoseconds
            state.handedOver(frames, buffer: buffer, rate: rate, now: now)
            state.reportProgress(now: now)
            return true
        }
    }

    /// Reports that the device took nothing; the thread closes it next.
    func lost(thread: Int, code: CInt) -> Bool {
        report(thread: thread) { state in
            let now = MonotonicTime.now.nanoseconds
            state.output.lost(code: code, now: now)
            state.music.stand(at: now)
            state.announcements.stand(at: now)
        }
    }

    func closed(thread: Int) -> Bool {
        report(thread: thread) { state in
            state.output.closed()
            state.announcements.releaseDevice()
            // Closing plays everything the device held. After a loss, the position is what had been heard.
            if state.output.failure == nil { state.music.heardAll() }
        }
    }

    /// Reports that a thread has returned and is about to end.
    func retired(thread: Int) {
        monitor.withLock { state in
            if state.threads.isCurrent(thread, .output) {
                state.threads.end(.output)
                state.output.retired()
            } else {
                state.threads.returned(.output)
            }
        }
        reports.send()
    }

    private func report(thread: Int, _ body: (inout PipelineState) -> Void) -> Bool {
        defer { reports.send() }
        return monitor.withLock { state in
            guard state.threads.isCurrent(thread, .output) else { return false }
            state.output.returned()
            body(&state)
            return true
        }
    }
}

extension PipelineState {
    /// Updates the positions after the device took a step.
    fileprivate mutating func handedOver(_ frames: Int, buffer: Int, rate: Int, now: Int64) {
        output.handedOver(frames, rate: rate)
        if output.giving.music {
            let held = output.handed.held(buffer: buffer)
            music.handedOver(held: held.music, delay: held.before, rate: rate, now: now)
        }
        if let current = announcements.current, current.job.token == output.giving.announcement {
            announcements.handedOver(of: output.handed.total, buffer: buffer, rate: rate, now: now)
        }
    }
}
