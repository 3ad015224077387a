import BackgrounderAPI

extension MPDCommand {
    static let optionCommands: [MPDCommand] = [
        MPDCommand("repeat", 1) { session, arguments in
            try await session.context.player.set(MPDOptionChange(repeat: arguments.boolean(0)))
        },
        MPDCommand("random", 1) { session, arguments in
            try await session.context.player.set(MPDOptionChange(random: arguments.boolean(0)))
        },
        MPDCommand("consume", 1) { session, arguments in
            try await session.context.player.set(MPDOptionChange(consume: arguments.boolean(0)))
        },
        MPDCommand("single", 1) { session, arguments in
            let modes: [String: SingleMode] = ["0": .off, "1": .on, "oneshot": .oneshot]
            guard let mode = modes[arguments[0]] else {
                throw MPDError(.argument, "Unrecognized single mode, expected 0, 1, or oneshot")
            }
            try await session.context.player.set(MPDOptionChange(single: mode))
        },
        MPDCommand("setvol", 1) { session, arguments in
            try await session.context.player.set(MPDOptionChange(volume: arguments.integer(0, in: 0...100)))
        },
        MPDCommand("volume", 1) { session, arguments in
            let change = try arguments.integer(0, in: -100...100)
            let volume = await session.context.player.status().audio.volume + change
            try await session.context.player.set(MPDOptionChange(volume: min(max(volume, 0), 100)))
        },
        MPDCommand("getvol") { session, _ in
            session.put("volume", await session.context.player.status().audio.volume)
        },
        MPDCommand("crossfade", 1) { _, arguments in
            guard try arguments.integer(0, in: MPDNumber.unsigned) != 0 else { return }
            throw MPDError(.argument, "Crossfading is not supported; songs follow each other without a gap")
        },
        MPDCommand("mixrampdb", 1) { _, arguments in
            guard try arguments.float(0) != 0 else { return }
            throw MPDError(.argument, "MixRamp is not supported; songs follow each other without a gap")
        },
        MPDCommand("mixrampdelay", 1) { _, arguments in
            guard try arguments.float(0) > 0 else { return }
            throw MPDError(.argument, "MixRamp is not supported; songs follow each other without a gap")
        },
        MPDCommand("replay_gain_mode", 1) { session, arguments in
            guard let mode = ReplayGainMode(rawValue: arguments[0]) else {
                throw MPDError(.argument, "Unrecognized replay gain mode")
            }
            try await session.context.player.set(MPDOptionChange(replayGain: mode))
        },
        MPDCommand("replay_gain_status") { session, _ in
            session.put("replay_gain_mode", await session.context.player.status().audio.replayGain.rawValue)
        },
        MPDCommand("outputs") { session, _ in
            let audio = await session.context.player.status().audio
            session.put("outputid", 0)
            session.put("outputname", audio.driver)
            session.put("plugin", audio.driver)
            session.put("outputenabled", audio.outputEnabled)
        },
        MPDCommand("enableoutput", 1) { session, arguments in
            try checkOutput(arguments)
            try await session.context.player.set(MPDOptionChange(outputEnabled: true))
        },
        MPDCommand("disableoutput", 1) { session, arguments in
            try checkOutput(arguments)
            try await session.context.player.set(MPDOptionChange(outputEnabled: false))
        },
        MPDCommand("toggleoutput", 1) { session, arguments in
            try checkOutput(arguments)
            let isEnabled = await session.context.player.status().audio.outputEnabled
            try await session.context.player.set(MPDOptionChange(outputEnabled: !isEnabled))
        },
        MPDCommand("outputset", 3) { _, arguments in
            try checkOutput(arguments)
            throw MPDError(.argument, "Unsupported attribute")
        },
    ]

    private static func checkOutput(_ arguments: MPDArguments) throws(MPDError) {
        guard try arguments.integer(0, in: MPDNumber.unsigned) == 0 else {
            throw MPDError(.noExist, "No such audio output")
        }
    }
}
