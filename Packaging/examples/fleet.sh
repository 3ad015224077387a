#!/bin/sh
# A fleet on one machine: 20 buses, a broker, a database with their points, and a map.
#     fleet.sh BIN HOME start | stop [BUSES]
# `start` leaves everything running; `stop` ends it and removes HOME.
set -eu

bin=$(cd "$1" && pwd)
action=$3
buses=${4:-20}
mkdir -p "$2"
home=$(cd "$2" && pwd)
examples=$(cd "$(dirname "$0")" && pwd)
say() { printf '\n== %s\n' "$*"; }
show() {
    say "backgrounder $*"
    "$bin/backgrounder" "$@"
}

stop() {
    for bus in "$home"/bus*; do
        [ ! -d "$bus" ] || "$bin/backgrounder" stop --home "$bus" >/dev/null 2>&1 || true
    done
    # The database last: the collector stores what it has.
    for name in map collector broker database; do
        [ -f "$home/$name.pid" ] || continue
        pid=$(cat "$home/$name.pid")
        # The id may belong to another process by now.
        if tr '\0' '\n' < "/proc/$pid/environ" 2>/dev/null | grep -qx "EXAMPLE=$home"; then
            kill "$pid" 2>/dev/null || true
            while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
        fi
    done
    rm -rf "$home"
}

if [ -e "$home" ] && [ ! -e "$home/.example" ] && [ -n "$(ls -A "$home")" ]; then
    echo "$0: $home contains other files; name a folder that may be removed" >&2
    exit 64
fi
case $action in
    stop)
        stop
        echo "stopped"
        exit 0
        ;;
    start) ;;
    *)
        echo "$0: unknown action $action; use start or stop" >&2
        exit 64
        ;;
esac
stop
mkdir -p "$home"
touch "$home/.example"
trap 'status=$?; [ $status -eq 0 ] || stop; exit $status' EXIT

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# Runs a program in the background, with its id in NAME.pid and its output in NAME.log.
background() {
    name=$1
    shift
    EXAMPLE="$home" setsid "$@" > "$home/$name.log" 2>&1 < /dev/null &
    echo $! > "$home/$name.pid"
}
wait_for() {
    what=$1
    shift
    attempts=0
    until "$@" >/dev/null 2>&1; do
        attempts=$((attempts + 1))
        [ $attempts -lt 300 ] || { echo "$0: no $what within 30 seconds; see $home/*.log" >&2; exit 1; }
        sleep 0.1
    done
}

say "A broker (mosquitto) and a database (PostgreSQL with PostGIS)"
mqtt=$(free_port)
cat > "$home/mosquitto.conf" <<CONF
listener $mqtt 127.0.0.1
allow_anonymous true
max_queued_messages 0
max_inflight_messages 2000
CONF
background broker /usr/sbin/mosquitto -c "$home/mosquitto.conf"
sql=$(free_port)
programs=$(ls -d /usr/lib/postgresql/*/bin | sort | tail -n 1)
mkdir "$home/database"
as=
# PostgreSQL refuses to run as root, and its user must reach the folder.
if [ "$(id -u)" -eq 0 ]; then
    chown postgres "$home/database"
    as="setpriv --reuid=postgres --regid=postgres --clear-groups --"
fi
$as "$programs/initdb" -D "$home/database/data" -A trust -U postgres --no-sync > "$home/initdb.log"
background database $as "$programs/postgres" -D "$home/database/data" -k "$home/database" -p "$sql" \
    -c listen_addresses=127.0.0.1
url=postgres://postgres@127.0.0.1:$sql/postgres
wait_for database psql -qc 'SELECT 1' "$url"
broker=mqtt://127.0.0.1:$mqtt
wait_for broker mosquitto_pub -p "$mqtt" -t example -n

say "backgrounder fleet collect --mqtt $broker --postgres $url"
background collector "$bin/backgrounder" fleet collect --mqtt "$broker" --postgres "$url"
wait_for collector grep -q Connected "$home/collector.log"

say "$buses buses on recorded routes, each a service of its own"
set -- freeway-drive city-walk tunnel-gap
number=0
while [ $number -lt "$buses" ]; do
    number=$((number + 1))
    bus=$home/bus$number
    mkdir -p "$bus/items"
    cp "$examples/../../media/welcome-announcement.wav" "$bus/items/welcome.wav"
    # Each bus begins somewhere else on its route.
    awk -v skip=$((number * 20)) '/^<trkpt/ && ++point <= skip { next } { print }' \
        "$examples/../../tracks/$1.gpx" > "$bus/route.gpx"
    set -- "$2" "$3" "$1"
    group=$([ $((number % 2)) -eq 0 ] && echo red || echo blue)
    cat > "$bus/config.yaml" <<YAML
modes: [audio, location]
location:
  source: gpx:route.gpx?rate=$((1 + number % 3))
  usageDescription: Shows a fleet
audio: {driver: "null"}
publish:
  startWithin: 0s
  brokers:
    office: {mqtt: "$broker", machine: bus$number, groups: [all, $group]}
fleet: {items: items}
YAML
    "$bin/backgrounder" start --home "$bus" >/dev/null
done
stored() { [ "$(psql -qXAtc 'SELECT count(*) FROM latest_position' "$url")" -ge "$buses" ]; }
wait_for "position of each bus" stored

show fleet list --postgres "$url"
show fleet announce --broker "$broker" --group all welcome.wav --at +2s --duck 20% --wait 16s
say "A map"
map=$(free_port)
background map python3 "$examples/fleet-map.py" "$map" "$url"
wait_for map curl -sf "http://127.0.0.1:$map/positions"
cat <<TEXT
The map: http://127.0.0.1:$map/
An announcement to all red buses:
  backgrounder fleet announce --broker $broker --group red --say 'We leave in ten minutes' --wait 5s
The points: psql $url -c 'SELECT * FROM daily_distance'
\`make stop-example-fleet\` ends everything.
TEXT
