#!/bin/sh
# Tests the Debian package in a Debian 12 without Swift: test.sh OLDER-PACKAGE PACKAGE WORK-FOLDER. Needs root and a mirror.
#
# The system is a folder (debootstrap) with mounts and processes of its own, which all end with this script. systemd does not run
# there: `systemctl` is a stub that records its calls and starts the service as the unit says.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
older=$(realpath "$1")
newer=$(realpath "$2")
work=$(mkdir -p "$3" && cd "$3" && pwd)
# The mirror of this machine.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Identifier: Packages' | head -n 1)
[ -n "$mirror" ] || { echo "$0: apt knows no mirror of Debian 12; run apt-get update" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || { echo "$0: chroot and mounts need root; run it with sudo" >&2; exit 1; }

size=$(stat -c %s "$newer")
installed=$(dpkg-deb -f "$newer" Installed-Size)
[ "$size" -le 25000000 ] && [ "$installed" -le 87890 ] || { echo "not ok - the package has $size bytes, installed $installed KiB" >&2; exit 1; }
echo "ok - the package has $size bytes, installed $installed KiB"

if [ ! -e "$work/base/etc/debian_version" ]; then
    rm -rf "$work/base" "$work/base.part"
    debootstrap --variant=minbase bookworm "$work/base.part" "$mirror" > "$work/debootstrap.log" || { tail "$work/debootstrap.log" >&2; exit 1; }
    mv "$work/base.part" "$work/base"
fi
rm -rf "$work/root"
cp -a "$work/base" "$work/root"
mkdir -p "$work/root/test" "$work/root/run/systemd/system"
cp "$older" "$work/root/test/older.deb"
cp "$newer" "$work/root/test/newer.deb"
install -m 755 "$here/inside.sh" "$work/root/test/"
install -m 755 "$here/systemctl" "$work/root/usr/bin/systemctl"
cp /etc/resolv.conf "$work/root/etc/"

status=0
unshare --mount --pid --fork --kill-child sh -ec '
    mount -t proc proc "$1/proc"
    mount -t tmpfs tmpfs "$1/dev"
    for device in null zero urandom random; do touch "$1/dev/$device"; mount --bind "/dev/$device" "$1/dev/$device"; done
    mkdir "$1/dev/shm" && ln -s /proc/self/fd "$1/dev/fd"
    exec chroot "$1" /test/inside.sh
' sh "$work/root" || status=$?
if [ $status -ne 0 ]; then
    echo "the package failed its test; its root is $work/root, the log of the service:" >&2
    tail -n 20 "$work/root/test/journal" >&2 || true
    exit 1
fi
# The unit as installed, with the unit files of this machine for those that it names.
dpkg-deb --fsys-tarfile "$newer" | tar -xO ./lib/systemd/system/backgrounder.service > "$work/backgrounder.service"
sed -i "s|^ExecStart=.*|ExecStart=/bin/true|" "$work/backgrounder.service"
systemd-analyze verify --man=no "$work/backgrounder.service"
echo "ok - systemd-analyze verifies the unit"
