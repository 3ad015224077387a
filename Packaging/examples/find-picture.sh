#!/bin/sh
# A source by command: is there another picture of the day? If so, a transfer shall bring it. What it prints is the
# content; exit 0 says new data, 3 none.
#     find-picture.sh SERVER BIN HOME
set -eu

picture=$(curl --noproxy "*" -fsS "$1/today")
name=${picture##*/}
[ "$(cat "$3/today" 2>/dev/null)" != "$name" ] || exit 3
"$2/backgrounder" transfer get "$1$picture" "$3/pictures/$name" --session pictures --home "$3" >&2
echo "$name" > "$3/today"
echo "$name"
