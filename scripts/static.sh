#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# One stripped file that needs nothing else on the board: static.sh [DIR [option...]]
set -eu

dir=${1:-build-static}
[ $# -eq 0 ] || shift
cd "$(dirname "$0")/.."
scripts/configure.sh "$dir" "$@" -Dstatic=true -Doptimization=2 -Ddebug=false \
	-Db_staticpic=false -Dtests=disabled
ninja -C "$dir"
