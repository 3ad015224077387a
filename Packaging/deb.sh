#!/bin/sh
# Builds a Debian package from the programs and manual pages that are built: deb.sh OUTPUT-FOLDER
#
# Dependencies come from the programs (dpkg-shlibdeps), the architecture from dpkg. The version is that of the programs with the
# time of the commit, so that the package of a later commit replaces that of an earlier one.
set -eu

folder=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/.."
version=$(sed -n 's/.*static let version = "\(.*\)"/\1/p' Sources/BackgrounderAPI/Wire/Version.swift)
if commit=$(TZ=UTC git log -1 --date=format-local:%Y%m%d.%H%M%S --format=%cd.%h 2>/dev/null); then
    version=$version+$commit
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
    export SOURCE_DATE_EPOCH
fi
architecture=$(dpkg --print-architecture)

work=$folder/work
stage=$work/stage
documents=$stage/usr/share/doc/backgrounder
rm -rf "$work"
mkdir -p "$work/debian" "$stage/DEBIAN" "$documents/docs" "$documents/examples" "$stage/etc/backgrounder"

make --no-print-directory --silent install DESTDIR="$stage" PREFIX=/usr
gzip -9n "$stage"/usr/share/man/man1/*.1
install -m 644 Packaging/debian/config.yaml "$stage/etc/backgrounder/"
install -m 644 README.md Packaging/debian/copyright "$documents/"
cp -r docs/*.md docs/decisions docs/pictures "$documents/docs/"
gzip -9nc CHANGELOG.md > "$documents/CHANGELOG.md.gz"
install -m 644 tracks/*.gpx media/*.mp3 media/*.wav "$documents/examples/"
install -m 644 Packaging/grafana/fleet.json "$documents/examples/fleet-dashboard.json"
cp Packaging/debian/control "$work/debian/"
printf 'backgrounder (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- %s  %s\n' "$version" \
    "$(sed -n 's/^Maintainer: //p' Packaging/debian/control)" "$(date -uR -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}")" > "$work/debian/changelog"
gzip -9nc "$work/debian/changelog" > "$documents/changelog.gz"
mkdir -p "$stage/usr/share/lintian/overrides"
install -m 644 Packaging/debian/lintian-overrides "$stage/usr/share/lintian/overrides/backgrounder"
find "$stage" -type d -exec chmod 755 {} +
find "$documents" -type f -exec chmod 644 {} +

for script in preinst postinst prerm postrm; do
    sed "s/@VERSION@/$version/" "Packaging/debian/$script" > "$stage/DEBIAN/$script"
    chmod 755 "$stage/DEBIAN/$script"
done
echo /etc/backgrounder/config.yaml > "$stage/DEBIAN/conffiles"
(cd "$stage" && find usr lib -type f -print0 | sort -z | xargs -0 md5sum > DEBIAN/md5sums)

cd "$work"
dpkg-shlibdeps -Tdebian/substvars "$stage/usr/bin/backgrounder" "$stage/usr/bin/backgrounderd"
dpkg-gencontrol -fdebian/files -Tdebian/substvars -Pstage
package=$folder/backgrounder_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build stage "$package" >/dev/null
cd "$folder"
rm -rf work
echo "$package: $(du -h "$package" | cut -f1)"
