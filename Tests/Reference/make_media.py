#!/usr/bin/env python3
"""Makes media/: short sample items, free of third-party rights.

    make_media.py [DIRECTORY]         default: media/ of this checkout

The tunes are computed here, lame encodes them and espeak-ng speaks. With the same versions of both (3.100 and 1.51 on
Debian 12) and the same libm the files are identical. Three MP3 files of one format (44.1 kHz, stereo, one of them VBR)
can be played without gaps; the WAV file (22.05 kHz, mono) makes the device change its format.
"""

import array
import math
import struct
import subprocess
import sys
import tempfile
import wave
from pathlib import Path

PEAK = 10 ** (-3 / 20)
ARTIST, ALBUM, YEAR = "Backgrounder", "While Nobody Watches", "2026"
ANNOUNCEMENT = "Welcome on board. Music and position go on, also while nobody is watching. Have a pleasant journey."

# Partials as (frequency ratio, share, rate of decay relative to the fundamental).
CHIME = [(1, 1.0, 1.0), (2.0, 0.42, 1.5), (2.76, 0.28, 2.4), (5.40, 0.10, 5.0), (0.5, 0.22, 0.8)]
MARIMBA = [(1, 1.0, 1.0), (3.93, 0.22, 4.5), (9.2, 0.05, 9.0)]
MUSIC_BOX = [(1, 1.0, 1.0), (2.0, 0.30, 1.3), (3.0, 0.12, 2.2), (6.3, 0.05, 6.0)]
PAD = [(1, 1.0, 1.0), (2, 0.25, 1.0), (3, 0.08, 1.0)]
NAMES = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


def hertz(note):
    """The pitch of C4, F#5, Bb3, ... in equal temperament."""
    step = NAMES[note[0]] + {"#": 1, "b": -1}.get(note[1], 0) + 12 * (int(note[-1]) - 4)
    return 261.6255653 * 2 ** (step / 12)


class Sheet:
    """A mix of sounds with one list of samples per channel."""

    def __init__(self, seconds, rate=44100, channels=2):
        self.rate = rate
        self.channels = [array.array("d", bytes(8 * round(seconds * rate))) for _ in range(channels)]

    def add(self, at, note, loudness, partials, fade, pan=0.0, attack=0.004, length=None):
        """Adds a tone at second `at` that decays to a thousandth within `fade` seconds; `pan` is from -1 (left) to 1.
        With a `length` the tone does not decay, and fades out at its end."""
        rate, pitch = self.rate, hertz(note)
        first, total = round(at * rate), len(self.channels[0])
        count = min(total - first, round((length or fade) * rate))
        tone = array.array("d", bytes(8 * count))
        for ratio, share, haste in partials:
            if pitch * ratio > rate * 0.45:
                continue
            # A decaying rotation: a sine with four multiplications per sample.
            turn = 2 * math.pi * pitch * ratio / rate
            keep = 1.0 if length else 10 ** (-3 * haste / (fade * rate))
            along, across = keep * math.cos(turn), keep * math.sin(turn)
            x, y = share * loudness, 0.0
            for index in range(count):
                tone[index] += y
                x, y = along * x - across * y, across * x + along * y
        rise = round((length * 0.35 if length else attack) * rate)
        fall = round((length * 0.45 if length else 0.03) * rate)
        for index in range(min(rise, count)):
            tone[index] *= 0.5 - 0.5 * math.cos(math.pi * index / rise)
        for index in range(min(fall, count)):
            tone[count - 1 - index] *= 0.5 - 0.5 * math.cos(math.pi * index / fall)
        angle = (pan + 1) * math.pi / 4
        shares = [1.0] if len(self.channels) == 1 else [math.cos(angle), math.sin(angle)]
        for channel, share in zip(self.channels, shares):
            for index in range(count):
                channel[first + index] += share * tone[index]

    def give_room(self, amount, seconds):
        """Adds reverberation: four damped comb filters and two all-pass filters per channel (Schroeder, Moorer)."""
        for side, dry in enumerate(self.channels):
            wet = array.array("d", bytes(8 * len(dry)))
            for milliseconds in (29.7, 37.1, 41.1, 43.7):
                size = round((milliseconds + 0.9 * side) * self.rate / 1000)
                gain = 10 ** (-3 * milliseconds / 1000 / seconds)
                line, place, low = [0.0] * size, 0, 0.0
                for index, sample in enumerate(dry):
                    out = line[place]
                    low += 0.6 * (out - low)
                    line[place] = sample + gain * low
                    wet[index] += out / 4
                    place = place + 1 if place + 1 < size else 0
            for milliseconds in (5.0, 1.7):
                size = round(milliseconds * self.rate / 1000)
                line, place = [0.0] * size, 0
                for index, sample in enumerate(wet):
                    delayed = line[place]
                    inner = sample + 0.6 * delayed
                    wet[index] = delayed - 0.6 * inner
                    line[place] = inner
                    place = place + 1 if place + 1 < size else 0
            for index, sample in enumerate(wet):
                dry[index] += amount * sample

    def frames(self, edge=0.25):
        """Interleaved 16 bit samples with a peak of -3 dB and a faded end."""
        count = len(self.channels[0])
        fall = round(edge * self.rate)
        for channel in self.channels:
            for index in range(fall):
                channel[count - 1 - index] *= index / fall
        scale = 32767 * PEAK / max(max(map(abs, channel)) for channel in self.channels)
        result = array.array("h", (round(scale * sample) for frame in zip(*self.channels) for sample in frame))
        if sys.byteorder == "big":
            result.byteswap()
        return result.tobytes()


# The items


def harbour_chimes():
    """Two answering calls of tubular bells over deep water."""
    sheet = Sheet(12)
    calls = [
        (0.0, "G4"), (0.75, "C5"), (1.5, "E5"), (2.25, "D5"), (3.75, "A4"),
        (4.5, "D5"), (5.25, "C5"), (6.0, "G4"), (7.5, "E4"), (7.53, "C5"),
    ]  # fmt: skip
    for number, (at, note) in enumerate(calls):
        sheet.add(at, note, 0.5, CHIME, 4.6, pan=0.5 * math.sin(number * 1.9), attack=0.006)
    for at, note in [(0.0, "C3"), (3.75, "F3"), (6.0, "G3"), (7.5, "C3")]:
        sheet.add(at, note, 0.12, PAD, 4, length=4.2)
    sheet.give_room(0.5, 1.9)
    return sheet


def morning_tune():
    """Eight bars for marimba, with a bass and a soft pad: C, a minor, F, G, and home again."""
    beat = 60 / 126
    sheet = Sheet(32 * beat + 1.6)
    chords = ["CEG", "ACE", "FAC", "GBD", "CEG", "ACE", "FGC", "CEG"]
    melody = [
        "E5 - G5 A5 - G5 E5 -", "C5 - E5 G5 - E5 D5 C5", "A4 - C5 D5 - F5 E5 C5", "D5 - - B4 D5 - G5 -",
        "E5 - G5 C6 - A5 G5 -", "E5 - C5 E5 - A5 G5 E5", "F5 - A5 G5 - F5 D5 -", "C5 - - E5 - - C5 -",
    ]  # fmt: skip
    for bar, (chord, line) in enumerate(zip(chords, melody)):
        start = bar * 4 * beat
        for eighth, note in enumerate(line.split()):
            if note != "-":
                accent = 0.62 if eighth == 0 else 0.5
                sheet.add(start + eighth * beat / 2, note, accent, MARIMBA, 1.3, pan=0.25)
        bass = chord[0] + ("2" if chord[0] in "GAB" else "3")
        for eighth in (0, 3, 6):
            sheet.add(start + eighth * beat / 2, bass, 0.42, MARIMBA, 1.1, pan=-0.1)
        for place, name in enumerate(chord):
            sheet.add(start, name + "4", 0.055, PAD, 3, pan=0.6 * (place - 1), length=4.6 * beat)
            sheet.add(start + (2 * place + 1) * beat / 2, name + "4", 0.17, MARIMBA, 0.8, pan=-0.4)
    sheet.give_room(0.3, 1.1)
    return sheet


def quiet_waltz():
    """Eight bars of a music box in three-four time, in F."""
    beat = 60 / 132
    sheet = Sheet(24 * beat + 1.9)
    bars = ["F3 A4 C5", "D3 F4 A4", "G3 Bb4 D5", "C3 G4 Bb4", "F3 A4 C5", "D3 F4 A4", "C3 G4 Bb4", "F3 A4 C5"]
    melody = ["C6 A5 F5", "A5 - F5", "D5 F5 Bb5", "A5 G5 -", "C6 A5 F5", "D6 - A5", "G5 Bb5 E5", "F5 - -"]
    for bar, (chord, line) in enumerate(zip(bars, melody)):
        start = bar * 3 * beat
        bass, *upper = chord.split()
        # Every second bar is a little late, like a spring that unwinds.
        for third, note in enumerate(line.split()):
            if note != "-":
                sheet.add(start + third * beat + 0.012 * (bar % 2), note, 0.5, MUSIC_BOX, 2.2, pan=0.2)
        sheet.add(start, bass, 0.34, MUSIC_BOX, 2.0, pan=-0.2)
        for third in (1, 2):
            for note in upper:
                sheet.add(start + third * beat, note, 0.13, MUSIC_BOX, 1.4, pan=-0.35)
    sheet.give_room(0.35, 1.4)
    return sheet


def welcome_announcement(folder):
    """A gong of two tones, then the voice."""
    rate, spoken = 22050, folder / "voice.wav"
    manner = ["-v", "en-gb", "-s", "150", "-p", "42", "-g", "2"]
    subprocess.run(["espeak-ng", *manner, "-w", spoken, ANNOUNCEMENT], check=True)
    with wave.open(str(spoken)) as file:
        if (file.getframerate(), file.getnchannels(), file.getsampwidth()) != (rate, 1, 2):
            raise SystemExit("the output of espeak-ng is not 22.05 kHz, mono, 16 bit")
        voice = array.array("h", file.readframes(file.getnframes()))
    if sys.byteorder == "big":
        voice.byteswap()
    begin = 1.75
    sheet = Sheet(begin + len(voice) / rate + 0.7, rate, channels=1)
    loudest = max(map(abs, voice))
    for index, sample in enumerate(voice):
        sheet.channels[0][round(begin * rate) + index] = 0.8 * sample / loudest
    for at, note in [(0.0, "E5"), (0.62, "C5")]:
        sheet.add(at, note, 0.45, CHIME, 2.6, attack=0.008)
    sheet.give_room(0.12, 0.9)
    return sheet


# Files


def wav(sheet, tags=None):
    """A RIFF file: tags in a LIST INFO chunk, then the samples."""

    def chunk(name, data):
        return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)

    channels, rate, frames = len(sheet.channels), sheet.rate, sheet.frames()
    body = chunk(b"fmt ", struct.pack("<HHIIHH", 1, channels, rate, 2 * channels * rate, 2 * channels, 16))
    if tags:
        body += chunk(b"LIST", b"INFO" + b"".join(chunk(key, text.encode() + b"\0") for key, text in tags))
    return chunk(b"RIFF", b"WAVE" + body + chunk(b"data", frames))


def mp3(sheet, path, title, track, options, folder):
    """Encodes with lame, which adds an ID3v2 tag and a header with the exact length."""
    source = folder / "tune.wav"
    source.write_bytes(wav(sheet))
    tags = ["--id3v2-only", "--tt", title, "--ta", ARTIST, "--tl", ALBUM, "--ty", YEAR, "--tn", str(track)]
    subprocess.run(["lame", "--quiet", "-q", "2", "--resample", "44.1", *options, *tags, source, path], check=True)


def main():
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "media"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        mp3(harbour_chimes(), target / "harbour-chimes.mp3", "Harbour Chimes", 1, ["-V", "5"], folder)
        mp3(morning_tune(), target / "morning-tune.mp3", "Morning Tune", 2, ["-b", "128"], folder)
        mp3(quiet_waltz(), target / "quiet-waltz.mp3", "Quiet Waltz", 3, ["-b", "96"], folder)
        tags = [(b"INAM", "Welcome Announcement"), (b"IART", ARTIST), (b"IPRD", ALBUM), (b"ICRD", YEAR)]
        (target / "welcome-announcement.wav").write_bytes(wav(welcome_announcement(folder), tags))


if __name__ == "__main__":
    main()
