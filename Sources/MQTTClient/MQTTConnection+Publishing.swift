import BackgrounderAPI
import CMosquitto
import Glibc
import SystemSupport

/// Publishing: the messages of the outbox, and their acknowledgements.
extension MQTTConnection {
    /// Sends the messages of the outbox, one after the other: the next one when the system has taken the one before.
    func publish() throws(MQTTFailure) {
        guard let outbox else { return }
        let now = MonotonicTime.now
        if let oldest = unacknowledged.first, oldest.sent + .seconds(MQTTLimits.answerDelay) <= now { throw .silent }
        nextTurn = nil
        while !wantsToWrite, unacknowledged.count < Int(MQTTLimits.inFlight) {
            switch outbox.next(at: now) {
            case .wait(let time):
                nextTurn = time
                return
            case .send(let message):
                try post(message, at: now)
                try write()
            }
        }
    }

    func post(_ message: MQTTPublication, at time: MonotonicTime) throws(MQTTFailure) {
        if let tag = message.tag, writer != nil {
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

    func confirmed(_ id: Int32) {
        // Brokers acknowledge in order (MQTT 3.1.1, 4.6), so this is the first one. Others are not ours, or were confirmed twice.
        guard let index = unacknowledged.firstIndex(where: { $0.id == id }) else { return }
        outbox?.acknowledged(unacknowledged.remove(at: index).tag, at: .now)
    }

    /// When the thread must wake up even if nothing happens.
    var nextTime: MonotonicTime {
        guard let oldest = unacknowledged.first?.sent else { return nextTurn.map { min(deadline, $0) } ?? deadline }
        let answer = oldest + .seconds(isPatient ? MQTTLimits.patience : MQTTLimits.answerDelay)
        return [nextTurn, answer].compactMap(\.self).reduce(deadline, min)
    }

    /// Whether acknowledgements may wait until the next message is sent. Each of them would wake the thread.
    private var isPatient: Bool {
        guard options.isPatient, phase == .listening, control.wish == .listen, !isSignAwaited,
            let oldest = unacknowledged.first
        else { return false }
        return unacknowledged.count <= MQTTLimits.fewMessages && .now < oldest.sent + .seconds(MQTTLimits.patience)
    }

    /// Sets how many bytes may arrive without waking the thread: the awaited acknowledgements, but no message.
    func setQuiet() {
        let count = isPatient ? unacknowledged.count : 0
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
