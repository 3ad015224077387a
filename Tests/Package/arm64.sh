#!/bin/sh
# Builds the programs for arm64 and runs them under emulation: arm64.sh WORK-FOLDER. Needs root, a mirror and 10 GB.
#
# Debian 12 has no Swift, so both come from Debian unstable: the compiler for this machine, and the libraries for arm64. Each is a
# folder (mmdebstrap). qemu runs the programs in that of the libraries, in namespaces of their own.
set -eu

cd "$(dirname "$0")/../.."
tree=$(pwd)
work=$(mkdir -p "$1" && cd "$1" && pwd)
fail() { echo "$0: $1" >&2; exit 1; }
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' 'Identifier: Packages' | head -n 1)
[ -n "$mirror" ] || fail "apt knows no mirror of Debian; run apt-get update"
[ "$(id -u)" -eq 0 ] || fail "chroot and mounts need root; run it with sudo"

# The headers and libraries of `make build`, without the servers, which this test does not use.
libraries=$(sed -n '/^ *run)/,/;;/p' Packaging/dependencies.sh | grep -o 'lib[^ "]*\|zlib1g-dev' | tr '\n' ',')
unpack() { # unpack NAME OPTION…: makes a folder from packages
    name=$1; shift
    [ ! -e "$work/$name" ] || return 0
    rm -rf "$work/$name.part"
    mmdebstrap --quiet --aptopt='Acquire::Check-Valid-Until "false"' "$@" sid "$work/$name.part" "$mirror" > "$work/$name.log" 2>&1 \
        || { tail "$work/$name.log" >&2; exit 1; }
    mv "$work/$name.part" "$work/$name"
}
unpack compiler --variant=apt --include=swiftlang,g++,git,pkg-config,ca-certificates
unpack arm64 --variant=extract --architectures=arm64 --include="$libraries"swiftlang,g++,base-files,libc-bin,coreutils,dash,grep
ln -sfn ../libexec/swift/lib/swift_static "$work/arm64/usr/lib/swift_static"

sdk=$work/compiler/sdk/arm64.artifactbundle
mkdir -p "$sdk" "$work/compiler/src/backgrounder" "$work/compiler/arm64" "$work/build" .build
cat > "$sdk/info.json" <<'JSON'
{ "schemaVersion": "1.0", "artifacts": { "arm64": { "type": "swiftSDK", "version": "1", "variants": [{ "path": "." }] } } }
JSON
cat > "$sdk/swift-sdk.json" <<'JSON'
{ "schemaVersion": "4.0", "targetTriples": { "aarch64-unknown-linux-gnu": { "sdkRootPath": "/arm64",
  "swiftResourcesPath": "/arm64/usr/lib/swift", "swiftStaticResourcesPath": "/arm64/usr/lib/swift_static",
  "toolsetPaths": ["toolset.json"] } } }
JSON
echo '{ "schemaVersion": "1.0", "swiftCompiler": { "extraCLIOptions": ["-use-ld=lld"] } }' > "$sdk/toolset.json"
cp /etc/resolv.conf "$work/compiler/etc/"
# What `swift build` fetched for this tree is not fetched again.
[ ! -e .build/workspace-state.json ] || [ -e "$work/build/checkouts" ] \
    || cp -a .build/checkouts .build/repositories .build/workspace-state.json "$work/build/"

unshare --mount sh -ec '
    mount -t proc proc "$2/compiler/proc"
    mount --rbind /dev "$2/compiler/dev"
    mount --bind "$1" "$2/compiler/src/backgrounder"
    mount --bind "$2/build" "$2/compiler/src/backgrounder/.build"
    mount --bind "$2/arm64" "$2/compiler/arm64"
    exec chroot "$2/compiler" sh -ec "
        cd /src/backgrounder
        export HOME=/root PKG_CONFIG_PATH=/arm64/usr/lib/aarch64-linux-gnu/pkgconfig PKG_CONFIG_SYSROOT_DIR=/arm64
        git config --global safe.directory \"*\"
        for program in backgrounder backgrounderd; do
            swift build --swift-sdks-path /sdk --swift-sdk arm64 -c release --static-swift-stdlib --product \$program
        done"
' sh "$tree" "$work"

test=$work/arm64/test
rm -rf "$test"
mkdir -p "$test" "$work/arm64/tree"
built=$work/build/aarch64-unknown-linux-gnu/release
cp "$built/backgrounder" "$built/backgrounderd" "$test/"
cat > "$test/config.yaml" <<'YAML'
modes: [audio, location]
location:
  source: gpx:/tree/tracks/city-walk.gpx?rate=10
  usageDescription: Tests the programs for arm64
audio:
  driver: "null"
  queue: [/tree/media/]
YAML
cat > "$test/inside.sh" <<'SH'
set -eu
export PATH=/test:/usr/bin BACKGROUNDER_HOME=/test
check() { # check DESCRIPTION TEXT COMMAND…: waits up to 60 s for an output with the text
    words=$1 text=$2; shift 2
    for _ in $(seq 60); do
        "$@" > /test/out 2>&1 && grep -q "$text" /test/out && echo "ok - $words" && return
        sleep 1
    done
    cat /test/out >&2
    echo "not ok - $words" >&2
    exit 1
}
/usr/sbin/ldconfig  # the packages are only unpacked
check "this machine seems to be one for arm64" '^aarch64$' uname -m
check "the command prints its version" '^[0-9]*\.[0-9.]*$' backgrounder --version
check "the service finds its configuration valid" 'is valid' backgrounderd --check
check "the command starts the service" 'pid [0-9]' backgrounder start
check "the service tracks the location" '2026-05-09T' sh -c 'backgrounder track export --format csv | tail -n +100'
check "the service plays" '^playing' backgrounder audio status
check "the status names the source" city-walk.gpx backgrounder status
check "the track is exported" '</gpx>' backgrounder track export --format gpx
check "the command stops the service" stopped backgrounder stop
SH
unshare --user --map-root-user --mount --pid --fork --kill-child sh -ec '
    # From Linux 6.7 on, a user namespace has a binfmt_misc of its own. Before, systemd-binfmt must have registered qemu.
    ! mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc 2>/dev/null \
        || sed "/^#/d" /usr/lib/binfmt.d/qemu-aarch64.conf > /proc/sys/fs/binfmt_misc/register
    mount --bind "$1" "$2/tree"
    mount -t proc proc "$2/proc"
    mount --rbind /dev "$2/dev"
    exec chroot "$2" /bin/sh /test/inside.sh
' sh "$tree" "$work/arm64"
