import BackgrounderAPI
import CPulse
import MediaFiles
import SystemSupport

/// Lists the sinks of the sound server with PulseAudio's own library, because libao cannot list devices.
///
/// Blocks the calling thread for at most `limit`.
enum PulseSinks {
    private static let library = cpulse_load()?.pointee

    /// Returns the sinks, or none if no server answers in time or libpulse is not installed.
    static func list(within limit: Duration) -> [AudioDevice] {
        guard let library, let loop = library.mainloop_new() else { return [] }
        defer { library.mainloop_free(loop) }
        guard let context = library.context_new(library.mainloop_get_api(loop), "Backgrounder") else { return [] }
        defer { library.context_unref(context) }
        guard library.context_connect(context, nil, PA_CONTEXT_NOAUTOSPAWN, nil) >= 0 else { return [] }
        defer { library.context_disconnect(context) }
        let deadline = MonotonicTime.now.nanoseconds + Int64(limit.seconds * 1e9)
        guard run(library, loop, until: deadline, { library.context_get_state(context) == PA_CONTEXT_READY }) else {
            return []
        }

        let answer = Answer()
        let user = Unmanaged.passUnretained(answer).toOpaque()
        let server = library.context_get_server_info(
            context,
            { _, info, user in
                guard let name = info?.pointee.default_sink_name else { return }
                Answer.at(user)?.defaultName = String(cString: name)
            },
            user
        )
        defer { if let server { library.operation_unref(server) } }
        let sinks = library.context_get_sink_info_list(
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
        defer { if let sinks { library.operation_unref(sinks) } }
        _ = run(library, loop, until: deadline) { answer.isWhole }
        // Cancelled operations make no more callbacks.
        if let server { library.operation_cancel(server) }
        if let sinks { library.operation_cancel(sinks) }
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
    private static func run(_ library: cpulse, _ loop: OpaquePointer, until deadline: Int64, _ isDone: () -> Bool)
        -> Bool
    {
        while !isDone() {
            let left = (deadline - MonotonicTime.now.nanoseconds) / 1_000
            guard left > 0, library.mainloop_prepare(loop, CInt(clamping: left)) >= 0, library.mainloop_poll(loop) >= 0,
                library.mainloop_dispatch(loop) >= 0
            else { return false }
        }
        return true
    }
}
