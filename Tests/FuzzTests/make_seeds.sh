#!/bin/sh
# Writes what the fuzzer begins with into the folder given: one small good file of each kind, and all that it found before.
set -eu

found=$(dirname "$(realpath "$0")")/Found
mkdir -p "$1"
cd "$1"
cp "$found"/* .
sox -D -n -r 22050 -c 2 -b 16 16.wav synth 0.15 sine 440-1320 sine 660-440 gain -6
for kind in "24.wav -b 24" "float.wav -e floating-point -b 32" "ulaw.wav -e mu-law" "ima.wav -e ima-adpcm" "ms.wav -e ms-adpcm" \
    "16.flac" "16.aiff" "16.au" "24.caf -b 24" "16.w64"; do
    # shellcheck disable=SC2086 # a name and its options
    set -- $kind
    file=$1
    shift
    sox -D 16.wav "$@" "$file"
done
lame --quiet -b 64 --add-id3v2 --tt Title 16.wav cbr.mp3
lame --quiet -V 5 -t 16.wav vbr.mp3
lame --quiet --freeformat -b 200 16.wav free.mp3
lame --quiet -b 8 -m m --resample 8 16.wav low.mp3
lame --quiet -b 128 -p --resample 44.1 16.wav mpeg1.mp3
oggenc -Q -q 0 -o vorbis.ogg 16.wav
opusenc --quiet --bitrate 32 16.wav opus.ogg
