#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Fetches another architecture's headers and static archives into a folder of their own:
#   sysroot.sh ARCH DIR PACKAGE...
# apt gets a private state and cache inside DIR, and the machine's own sources and keys, so neither
# the machine's packages nor its list of architectures change. Status 3: they can't be had just now.
set -eu

arch=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
shift 2
stamp=$dir/.complete

[ "$(cat "$stamp" 2>/dev/null)" = "$*" ] && exit 0

apt=$dir/.apt
rm -rf "${dir:?}/usr" "${dir:?}/lib" "$apt" "$stamp"
mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
: >"$apt/status"
cat >"$apt/conf" <<END
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Sandbox::User "$(id -un)";
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Acquire::Languages "none";
END
export APT_CONFIG="$apt/conf"

# One index of several may be out of step for a while; what the others offer is often enough.
apt-get update -q >"$apt/log" 2>&1 </dev/null || :
if ! (cd "$apt/debs" && apt-get download -q "$@" >>"$apt/log" 2>&1 </dev/null); then
	echo "$arch: packages can't be had at the moment ($*):" >&2
	grep '^E:' "$apt/log" | tail -n 3 >&2 || :
	exit 3
fi
for package in "$apt"/debs/*.deb; do
	dpkg-deb -x "$package" "$dir"
done
rm -rf "$apt"
echo "$*" >"$stamp"
