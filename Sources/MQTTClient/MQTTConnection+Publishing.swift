import BackgrounderAPI
import CMosquitto
import Glibc
import SystemSupport

/// Publishing: the messages of the outbox, and their acknowledgements.
extension MQTTConnection {
    /// Sends the messages of the outbox: the next ones when the system has taken those before.
    func publish() throws(MQTTFailure) {
        guard let outbox else { return }
        let now = MonotonicTime.now
        if hasReadAll, let oldest = unacknowledged.first, oldest.sent + .seconds(MQTTLimits.answerDelay) <= now {
            throw .silent
        }
        nextTurn = nil
        while !wantsToWrite, try postNext(of: outbox, at: now) {
            // Without TLS, all that there is goes to the system together.
            while writer != nil, try postNext(of: outbox, at: now) {}
            try write()
            hurryAcknowledgements()
        }
    }

    /// Makes the system acknowledge the broker's segments as soon as they are read, while several messages are unacknowledged.
    ///
    /// mosquitto sends each acknowledgement (PUBACK) in a segment of its own. With Nagle's algorithm (RFC 9293, 3.7.4), the second one
    /// waits until the system acknowledges the first one, which it delays by 40 ms. The others follow together.
    private func hurryAcknowledgements() {
        burst = unacknowledged.count > MQTTLimits.fewMessages ? unacknowledged.count : 0
        guard burst > 0 else { return }
        var isOn: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_QUICKACK, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Posts the next message of the outbox. Returns false if there is none now.
    private func postNext(of outbox: any MQTTOutbox, at time: MonotonicTime) throws(MQTTFailure) -> Bool {
        guard unacknowledged.count < Int(MQTTLimits.inFlight) else { return false }
        switch outbox.next(at: time) {
        case .wait(let next):
            nextTurn = next
            return false
        case .send(let message):
            try post(message, at: time)
            return true
        }
    }

    func post(_ message: MQTTPublication, at time: MonotonicTime) throws(MQTTFailure) {
        if writer != nil {
            guard let tag = message.tag else {
                writer?.add(message, id: nil)
                return
            }
            repeat { lastID = lastID == .max ? 1 : lastID + 1 } while unacknowledged.contains { $0.id == Int32(lastID) }
            writer?.add(message, id: lastID)
            unacknowledged.append((Int32(lastID), tag, time))
            return
        }
        var id: Int32 = 0
        try check(
            mosquitto_publish(
                mosquitto,
                &id,
                message.topic,
                Int32(message.payload.count),
                message.payload,
                message.tag == nil ? 0 : 1,
                message.isRetained
            )
        )
        if let tag = message.tag { unacknowledged.append((id, tag, time)) }
    }

    func confirmed(_ ids: some Sequence<UInt16>) {
        let tags = ids.compactMap { id -> Int64? in
            // Brokers acknowledge in order (MQTT 3.1.1, 4.6), so this is the first one. Others are not ours, or were confirmed twice.
            guard let index = unacknowledged.firstIndex(where: { $0.id == id }) else { return nil }
            return unacknowledged.remove(at: index).tag
        }
        if !tags.isEmpty { outbox?.acknowledged(tags, at: .now) }
    }

    /// When the thread must wake up even if nothing happens.
    var nextTime: MonotonicTime {
        guard let oldest = unacknowledged.first?.sent else { return nextTurn.map { min(deadline, $0) } ?? deadline }
        let answer = oldest + .seconds(quietCount > 0 ? MQTTLimits.patience : MQTTLimits.answerDelay)
        return [nextTurn, answer].compactMap(\.self).reduce(deadline, min)
    }

    /// The acknowledgements that may arrive without waking the thread, which reads them when it is awake anyway.
    private var quietCount: Int {
        guard options.isPatient, phase == .listening, control.wish == .listen, !isSignAwaited,
            let oldest = unacknowledged.first, .now < oldest.sent + .seconds(MQTTLimits.patience)
        else { return 0 }
        let count = unacknowledged.count
        if burst == 0 { return count }
        // The first and the last one of a burst wake the thread. With TLS, all do: several in one record have fewer bytes.
        return packets == nil || count == burst ? 0 : min(count - 1, MQTTLimits.quietAcknowledgements)
    }

    /// Sets how many bytes may arrive without waking the thread: the awaited acknowledgements, but no message.
    func setQuiet() {
        let count = quietCount
        guard packets == nil else {
            packets?.setQuiet(count * MQTTLimits.acknowledgementSize)
            return
        }
        guard options.address.isSecure, phase == .listening, count != quietAcknowledgements else { return }
        quietAcknowledgements = count
        var size = Int32(count * MQTTLimits.secureAcknowledgementSize + 1)
        setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &size, socklen_t(MemoryLayout<Int32>.size))
    }
}
