#!/bin/sh
# Installs the missing Debian packages of the given sets (run, test, examples, fleet, consumers, bench, package, arm64). Needs root or sudo.
# With --check first, installs nothing and exits with 1 if a package is missing.
set -eu

check=
if [ "${1-}" = --check ]; then
    check=yes
    shift
fi

packages=
for set in "$@"; do
    case $set in
        run) packages="$packages ca-certificates pkg-config libgps-dev libao-dev libmpg123-dev libsndfile1-dev libsoxr-dev libpulse-dev libexpat1-dev libmosquitto-dev libssl-dev libzip-dev zlib1g-dev libpq-dev
            libsqlite3-dev gpsd libpulse0 libasound2-dev libjs-leaflet" ;;
        test) packages="$packages python3 python3-pyproj python3-shapely gpsd-clients pulseaudio pulseaudio-utils sox libsox-fmt-mp3 lame mpg123 espeak-ng
            flac vorbis-tools opus-tools ffmpeg openssl mpd mpc python3-mpd mosquitto mosquitto-clients prometheus prometheus-node-exporter aria2 wget libfaketime fuse3 python3-fuse libxml2-utils sqlite3 strace curl procps iproute2 chromium python3-venv postgresql postgresql-15-postgis-3 libpq5" ;;
        fleet) packages="$packages python3 curl mosquitto mosquitto-clients postgresql postgresql-15-postgis-3 libpq5" ;;
        consumers) packages="$packages rabbitmq-server" ;;
        examples) packages="$packages python3 curl espeak-ng sox" ;;
        bench) packages="$packages python3 python3-pyproj python3-shapely gpsd-clients gpsbabel strace pulseaudio pulseaudio-utils sox lame mpg123 mpd mpc curl mosquitto mosquitto-clients chromium python3-venv postgresql postgresql-15-postgis-3 iproute2" ;;
        package) packages="$packages dpkg-dev lintian debootstrap" ;;
        arm64) packages="$packages mmdebstrap qemu-user-static" ;;
        *) echo "$0: unknown set $set; use run, test, examples, fleet, consumers, bench, package or arm64" >&2; exit 64 ;;
    esac
done

missing=
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
[ -z "$check" ] || exit 1

echo "Installing:$missing"
as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "cannot install the missing packages: no sudo; as root, run apt-get install$missing" >&2; exit 1; }
    as_root=sudo
fi
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
