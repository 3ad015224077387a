import BackgrounderAPI
import CPulse
import MediaFiles
import SystemSupport

/// Lists the sinks of the sound server with PulseAudio's own library, because libao cannot list devices.
///
/// Blocks the calling thread for at most `limit`.
enum PulseSinks {
    /// Returns the sinks, or none if no server answers in time.
    static func list(within limit: Duration) -> [AudioDevice] {
        guard let loop = pa_mainloop_new() else { return [] }
        defer { pa_mainloop_free(loop) }
        guard let context = pa_context_new(pa_mainloop_get_api(loop), "Backgrounder") else { return [] }
        defer { pa_context_unref(context) }
        guard pa_context_connect(context, nil, PA_CONTEXT_NOAUTOSPAWN, nil) >= 0 else { return [] }
        defer { pa_context_disconnect(context) }
        let deadline = MonotonicTime.now.nanoseconds + Int64(limit.seconds * 1e9)
        guard run(loop, until: deadline, { pa_context_get_state(context) == PA_CONTEXT_READY }) else { return [] }

        let answer = Answer()
        let user = Unmanaged.passUnretained(answer).toOpaque()
        let server = pa_context_get_server_info(
            context,
            { _, info, user in
                guard let name = info?.pointee.default_sink_name else { return }
                Answer.at(user)?.defaultName = String(cString: name)
            },
            user
        )
        defer { if let server { pa_operation_unref(server) } }
        let sinks = pa_context_get_sink_info_list(
            context,
            { _, info, end, user in
                guard end == 0, let info = info?.pointee, let name = info.name else {
                    Answer.at(user)?.isWhole = true
                    return
                }
                let description = info.description.map { String(cString: $0) } ?? ""
                Answer.at(user)?.sinks.append((String(cString: name), description))
            },
            user
        )
        defer { if let sinks { pa_operation_unref(sinks) } }
        _ = run(loop, until: deadline) { answer.isWhole }
        // Cancelled operations make no more callbacks.
        if let server { pa_operation_cancel(server) }
        if let sinks { pa_operation_cancel(sinks) }
        return withExtendedLifetime(answer) {
            answer.sinks.map { name, description in
                AudioDevice(
                    name: name,
                    description: Metadata.line(description),
                    isDefault: name == answer.defaultName ? true : nil
                )
            }
        }
    }

    private final class Answer {
        var defaultName: String?
        var sinks: [(name: String, description: String)] = []
        var isWhole = false

        static func at(_ user: UnsafeMutableRawPointer?) -> Answer? {
            user.map { Unmanaged<Answer>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    /// Runs the connection until `isDone`. Returns false at the deadline or if the connection is lost.
    private static func run(_ loop: OpaquePointer, until deadline: Int64, _ isDone: () -> Bool) -> Bool {
        while !isDone() {
            let left = (deadline - MonotonicTime.now.nanoseconds) / 1_000
            guard left > 0, pa_mainloop_prepare(loop, CInt(clamping: left)) >= 0, pa_mainloop_poll(loop) >= 0,
                pa_mainloop_dispatch(loop) >= 0
            else { return false }
        }
        return true
    }
}
