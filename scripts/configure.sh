#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Sets a build folder up, or brings an existing one to the same options: configure.sh DIR [option...]
set -eu

dir=$1
shift
cd "$(dirname "$0")/.."
if [ -f "$dir/build.ninja" ]; then
	# a cross file counts only at the first time; without options ninja itself sees what changed
	if [ "${1-}" = --cross-file ]; then
		shift 2
	fi
	[ $# -eq 0 ] || meson configure "$dir" "$@" >/dev/null
else
	meson setup "$dir" "$@"
fi
