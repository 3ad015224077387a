#!/bin/sh
# A picture of the day: a fetch finds a new picture, a transfer downloads it, and the script shows it.
#     picture-of-the-day.sh BIN HOME
. "$(dirname "$0")/common.sh" "$1" "$2"
. "$(dirname "$0")/web.sh"

mkdir "$home/pictures"
cat > "$home/config.yaml" <<YAML
modes: [fetch]
transfers:
  roots: [pictures/]
  allowHTTP: ["127.0.0.1"]
YAML

# The events of a session are repeated until they are acknowledged.
arrived() {
    attempts=0
    until events=$(backgrounder transfer events pictures) && [ "${events#*done}" != "$events" ]; do
        attempts=$((attempts + 1))
        [ $attempts -lt 50 ] || { echo "no picture arrived within 10 seconds: $events" >&2; exit 1; }
        sleep 0.2
    done
    echo "$events"
    newest=$(echo "$events" | sed -n 's/^ *\([0-9][0-9]*\) .* done .*/\1/p' | tail -n 1)
    backgrounder transfer events pictures --ack "$newest" >/dev/null
    # The picture has its name only once it is complete.
    picture=$home/pictures/$(cat "$home/today")
    [ -s "$picture" ]
    echo "$picture"
    [ ! -t 1 ] || /usr/bin/python3 "$examples/show-picture.py" "$picture"
}

say "backgrounder start"
backgrounder start
show fetch add picture --interval 1h --exec "'$examples/find-picture.sh' $server '$bin' '$home'"
show fetch simulate picture
say "A transfer downloads it"
arrived

say "The same day: nothing new"
show fetch simulate picture

tomorrow
show fetch simulate picture
say "The next day, another picture"
arrived
show fetch log picture
show transfer list
