#!/bin/sh
# The part of test.sh that runs in the system without Swift.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

ok() { echo "ok - $1"; }
fail() { echo "not ok - $1" >&2; exit 1; }
check() { # check DESCRIPTION COMMAND…
    words=$1; shift
    "$@" > /test/out 2>&1 || { cat /test/out >&2; fail "$words"; }
    ok "$words"
}
refuses() { # refuses DESCRIPTION TEXT COMMAND…
    words=$1 text=$2; shift 2
    if "$@" > /test/out 2>&1; then cat /test/out >&2; fail "$words"; fi
    grep -q "$text" /test/out || { cat /test/out >&2; fail "$words"; }
    ok "$words"
}
# Waits up to 30 s for a command to succeed.
eventually() {
    words=$1; shift
    for _ in $(seq 150); do if "$@" > /test/out 2>&1; then ok "$words"; return; fi; sleep 0.2; done
    cat /test/out >&2
    fail "$words"
}
called() { grep -qx -- "$1" /test/systemctl.log; }
stored() { backgrounder track export --format csv 2>/dev/null | wc -l; }
has_points() { [ "$(stored)" -gt "$1" ]; }
position() { backgrounder audio status --format json | tr ',{' '\n\n' | sed -n 's/^"elapsed"://p' | head -n 1; }
plays() { backgrounder audio status | grep -q "^playing"; }
version() { dpkg-query -W -f '${Version}' backgrounder; }

# apt calls scripts with a PATH of its own. If something brings the real one, it is put beside the stub.
dpkg-divert --quiet --local --no-rename --divert /usr/bin/systemctl.real --add /usr/bin/systemctl
find / -xdev -not -path '/proc/*' -not -path '/test/*' > /test/before
apt-get update -qq
! command -v swift > /dev/null || fail "this system has Swift"

began=$(date +%s)
check "apt installs the older package with all that it needs" apt-get install -y -qq /test/older.deb
older=$(version)
! ldd /usr/bin/backgrounderd | grep -q "not found" || fail "a library is missing"
! ldd /usr/bin/backgrounderd /usr/bin/backgrounder | grep -q swift || fail "a program needs the toolchain"
ok "the programs need no toolchain"
check "the maintainer scripts reload systemd" called "--system daemon-reload"
check "the service is enabled" test -L /etc/systemd/system/multi-user.target.wants/backgrounder.service
check "the service runs" backgrounder status
[ "$(ps -o user= -p "$(cat /test/pid)" 2>/dev/null || stat -c %U "/proc/$(cat /test/pid)")" = backgrounder ] || fail "the service has another user"
ok "the service runs as the user backgrounder"

samples=/usr/share/doc/backgrounder/examples
sed -i "s|^  source: .*|  source: gpx:$samples/freeway-drive.gpx?rate=10|; s|^  driver: .*|  driver: \"null\"|; s|^  #queue: .*|  queue: [$samples/]|" \
    /etc/backgrounder/config.yaml
# The name of the option that version 0.1 knows.
check "the edited configuration is valid" backgrounderd --check-configuration
systemctl restart backgrounder.service
eventually "the sample track is recorded" has_points 50
check "a map is drawn" sh -c "backgrounder track map > /test/map.svg"
eventually "the sample media play" plays
echo "# $(($(date +%s) - began)) s from the installation to the first map and sound"

before=$(stored)
kill -9 "$(cat /test/pid)"
while systemctl is-active backgrounder.service; do sleep 0.1; done
check "the service starts after kill -9" systemctl start backgrounder.service
check "kill -9 loses no point" has_points "$((before - 1))"

backgrounder audio pause > /dev/null
where=$(position)
before=$(stored)
[ -n "$where" ] || fail "no position"
# dpkg asks which configuration to keep, as both have changed; without a terminal, the edited one.
check "an upgrade is installed" apt-get install -o Dpkg::Options::=--force-confold -y -qq /test/newer.deb
[ "$(version)" != "$older" ] || fail "the version is unchanged"
check "the upgrade restarts the service" called "restart backgrounder.service"
check "the upgraded service runs" backgrounder status
check "the upgrade keeps the history" has_points "$((before - 1))"
[ "$(position)" = "$where" ] || fail "the position was $where and is $(position)"
ok "the upgrade keeps the position ($where s)"
check "the upgrade keeps the edited configuration" grep -q freeway-drive /etc/backgrounder/config.yaml

check "root makes a backup" backgrounder backup /tmp/backup
chmod 644 /tmp/backup
check "the service stops" systemctl stop backgrounder.service
check "root restores the backup" backgrounder restore /tmp/backup
check "the restored service starts" systemctl start backgrounder.service
check "the restored history is whole" has_points "$((before - 1))"

useradd --create-home --groups backgrounder ann
useradd --create-home bob
check "a member of the group uses the service without sudo" runuser -u ann -- backgrounder status
check "a member of the group controls it" runuser -u ann -- backgrounder audio pause
check "a member of the group resumes it" runuser -u ann -- backgrounder audio play
refuses "another user is told who may use it" "group backgrounder" runuser -u bob -- backgrounder status

newer=$(version)
refuses "a downgrade is refused with its reason" "is older than the installed" \
    apt-get install -y -qq --allow-downgrades /test/older.deb
[ "$(version)" = "$newer" ] || fail "the refused downgrade changed the version"
check "the service still runs" backgrounder status

check "the package is removed" apt-get remove -y -qq backgrounder
! systemctl is-active backgrounder.service || fail "the removed service still runs"
check "removing keeps the data" test -s /var/lib/backgrounder/backgrounder.sqlite
check "it is installed again" apt-get install -y -qq /test/newer.deb
check "the history is still there" has_points "$((before - 1))"
check "the package is purged" apt-get purge -y -qq backgrounder
find / -xdev -not -path '/proc/*' -not -path '/test/*' | grep -i backgrounder > /test/left || true
grep -v -x -F -f /test/before /test/left > /test/out || true
[ ! -s /test/out ] || { cat /test/out >&2; fail "purging leaves files behind"; }
! getent passwd backgrounder > /dev/null && ! getent group backgrounder > /dev/null || fail "purging leaves the user or the group"
ok "purging leaves nothing behind"
