#!/bin/sh
# The command of a fetch source: looks for a new picture of the day and enqueues a transfer for it. Its output is the content;
# exit code 0 means new data, 3 none.
#     find-picture.sh SERVER BIN HOME
set -eu

picture=$(curl --noproxy "*" -fsS "$1/today")
name=${picture##*/}
[ "$(cat "$3/today" 2>/dev/null)" != "$name" ] || exit 3
"$2/backgrounder" transfer get "$1$picture" "$3/pictures/$name" --session pictures --home "$3" >&2
echo "$name" > "$3/today"
echo "$name"
