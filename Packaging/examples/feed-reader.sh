#!/bin/sh
# A feed reader: Backgrounder looks after a feed while nobody is there, and says what is new.
#     feed-reader.sh BIN HOME
. "$(dirname "$0")/common.sh" "$1" "$2"

cat > "$home/config.yaml" <<'YAML'
modes: [fetch]
YAML

say "backgrounder start"
backgrounder start
show fetch add news --url "$server/feed.xml" --interval 1h

say "Nobody is attached. What happens every hour, happens now:"
show fetch simulate news
show fetch show news

say "The same again: the server says 304, no body goes over the wire"
show fetch simulate news

tomorrow
show fetch simulate news
say "One item is new beside the three that nobody has looked at yet"
show fetch items news

say "Looking at it makes all of it seen"
show fetch open news
show fetch log news

say "What the log says"
backgrounder log -n 20 | grep -E 'news|Fetch'

say "The other way to be woken up: nothing runs, and the system starts the service for one fetch"
backgrounder stop
tomorrow
for attempt in first second; do
    result=0
    "$bin/backgrounderd" --launch-for-fetch news --home "$home" >/dev/null 2>&1 || result=$?
    echo "$attempt backgrounderd --launch-for-fetch news: exit $result (0 new data, 3 none, 1 failed)"
done
