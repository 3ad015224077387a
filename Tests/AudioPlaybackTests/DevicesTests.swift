import BackgrounderAPI
import Testing

@testable import AudioPlayback

struct DevicesTests {
    @Test func `ALSA cards are listed by device name, without those that only record`() {
        let text = """
            00-00: ALC269VC Analog : ALC269VC Analog : playback 1 : capture 1
            00-02: ALC269VC Alt Analog : ALC269VC Alt Analog : capture 1
            01-03: HDMI 0 : HDMI 0 : playback 1
            nonsense
            x-y: : : playback
            """
        #expect(
            ALSADevices.devices(in: text)
                == [
                    AudioDevice(name: "plughw:0,0", description: "ALC269VC Analog"),
                    AudioDevice(name: "plughw:1,3", description: "HDMI 0"),
                ]
        )
        #expect(ALSADevices.list("/proc/no/such/file") == [])
    }

    @Test func `only pulse and alsa accept the name of a device`() throws {
        #expect(try AudioDriverName("pulse:out.usb") == .live("pulse", device: "out.usb"))
        #expect(try AudioDriverName("alsa:plughw:1,3") == .live("alsa", device: "plughw:1,3"))
        #expect("\(try AudioDriverName("alsa:plughw:1,3"))" == "alsa:plughw:1,3")
        for text in ["pulse:", "auto:x", "null:x", "oss:x"] {
            #expect(throws: PlayerError.self) { try AudioDriverName(text) }
        }
    }
}
