#!/bin/sh
# The main job as a new user sees it: start the service on the sample track and media, attach, detach, and see what happened
# meanwhile. `--clean` stops the service and removes its state.
set -eu

if [ "$1" = --clean ]; then
    [ ! -S "$3/run/control.sock" ] || "$2/backgrounder" --home "$3" stop || [ $? -eq 3 ]
    rm -rf "$3"
    exit 0
fi
bin=$1
home=$2
backgrounder() { "$bin/backgrounder" "$@" --home "$home"; }
say() { printf '\n== %s\n' "$1"; }

if [ ! -e "$home/config.yaml" ]; then
    mkdir -p "$home"
    cat > "$home/config.yaml" <<'YAML'
modes: [audio, location, fetch, remote-notification]
location:
  source: gpx:../tracks/freeway-drive.gpx?rate=10
  usageDescription: Shows on a sample track what Backgrounder does
audio:
  driver: auto
  queue: [../media/]
log:
  progress: every
YAML
fi

say "backgrounder start"
backgrounder start

say "backgrounder attach (detaches after 6 seconds)"
# `timeout` presses Ctrl-C for this script; 124 is its exit code for that.
timeout --foreground -s INT 6 "$bin/backgrounder" attach --home "$home" || [ $? -eq 124 ]

say "No client is attached for 5 seconds"
sleep 5

say "backgrounder status"
backgrounder status
say "backgrounder log -n 12"
backgrounder log -n 12
say "backgrounder track --last 5"
backgrounder track --last 5
say "backgrounder audio status"
backgrounder audio status

cat <<TEXT

The service continues. Attach again:  $bin/backgrounder --home $home attach
Use a real receiver:                 $bin/backgrounder --home $home stop; $bin/backgrounder --home $home start --source gpsd://localhost:2947
Stop it:                             $bin/backgrounder --home $home stop
TEXT
