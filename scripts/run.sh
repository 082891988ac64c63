#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The main job on this machine: what board it is, then 20 s of measuring. A missed goal is a result,
# so it ends with 0; only what could not be done is an error.
set -eu

punctual=$1
measure="measure --duration 20s --goal industrial"

"$punctual" topology
echo

status=0
# shellcheck disable=SC2086 # the words are meant to be split
"$punctual" $measure || status=$?
if [ "$status" -eq 3 ]; then
	echo
	echo "Real-time scheduling was refused (above); measuring at normal priority instead:"
	status=0
	# shellcheck disable=SC2086
	"$punctual" $measure --policy other || status=$?
fi

echo
case $status in
0) echo "Done: the industrial goals are met on this machine." ;;
1) echo "Done: the industrial goals are missed on this machine (a result, not a failure)." ;;
5) echo "Done: the run was too short or too disturbed for a verdict (a result, not a failure)." ;;
*)
	echo "punctual measure ended with status $status; see its message above." >&2
	exit "$status"
	;;
esac
