#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Sets a build folder up, or brings an existing one to the same options: configure.sh DIR [option...]
set -eu

dir=$1
shift
cd "$(dirname "$0")/.."
if [ "${1-}" = --cross-file ] && [ -f "$dir/build.ninja" ]; then
	# a cross file is read at the first time only
	if [ -n "$(find "$2" -newer "$dir/build.ninja")" ]; then
		rm -rf "$dir"
	else
		shift 2
	fi
fi
if [ -f "$dir/build.ninja" ]; then
	# without options ninja itself sees what changed
	[ $# -eq 0 ] || meson configure "$dir" "$@" >/dev/null
else
	meson setup "$dir" "$@"
fi
