#!/bin/sh
# A feed reader: Backgrounder fetches a feed in the background and reports new items.
#     feed-reader.sh BIN HOME
. "$(dirname "$0")/common.sh" "$1" "$2"
. "$(dirname "$0")/web.sh"

cat > "$home/config.yaml" <<'YAML'
modes: [fetch]
transfers: {allowHTTP: ["127.0.0.1"]}
YAML

say "backgrounder start"
backgrounder start
show fetch add news --url "$server/feed.xml" --interval 1h

say "Simulate the hourly fetch now, with no client attached:"
show fetch simulate news
show fetch show news

say "Fetch again: the server answers 304 and sends no body"
show fetch simulate news

tomorrow
show fetch simulate news
say "One new item, after three that have not been opened yet"
show fetch items news

say "Opening the source marks all items as seen"
show fetch open news
show fetch log news

say "The log"
backgrounder log -n 20 | grep -E 'news|Fetch'

say "Without a running service: the system launches one fetch"
backgrounder stop
tomorrow
for attempt in first second; do
    result=0
    "$bin/backgrounderd" --launch-for-fetch news --home "$home" >/dev/null 2>&1 || result=$?
    echo "$attempt backgrounderd --launch-for-fetch news: exit $result (0 new data, 3 none, 1 failed)"
done
