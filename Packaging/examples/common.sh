# Shared by the examples, which source it with the folder of the programs and the home of their service:
#     . common.sh BIN HOME
# Stops everything and removes the home when the script ends.
set -eu

# The home is removed at the end, so it must not contain anything else.
if [ -e "$2" ] && [ ! -e "$2/.example" ] && [ -n "$(ls -A "$2")" ]; then
    echo "$0: $2 contains other files; name a folder that may be removed" >&2
    exit 64
fi
bin=$(cd "$1" && pwd)
mkdir -p "$2"
home=$(cd "$2" && pwd)
examples=$(cd "$(dirname "$0")" && pwd)
backgrounder() { "$bin/backgrounder" "$@" --home "$home"; }
say() { printf '\n== %s\n' "$*"; }
# Prints a command as one would type it, and runs it.
show() {
    say "backgrounder $*"
    backgrounder "$@"
}

leave() {
    status=$?
    trap - EXIT
    backgrounder stop >/dev/null 2>&1 || true
    # The server of web.sh exits when its stdin is closed.
    exec 9>&- || true
    rm -rf "$home"
    exit "$status"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Stop the service of an earlier run that was killed.
backgrounder stop >/dev/null 2>&1 || true
rm -rf "$home"
mkdir -p "$home"
touch "$home/.example"
