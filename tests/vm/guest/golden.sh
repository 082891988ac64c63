#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The figures that cases/golden.py compares: theirs, ours in their form, ours. Theirs come first, so
# that no other build of ours moves them.
. /lib.sh
# At the same place between two ticks: every fourth wake-up of whoever happens to begin right behind
# one would come 15 us later.
options="-q -m -p95 -t1 -a0 -i1000 -l5000 -h200 --secaligned=500"

# shellcheck disable=SC2086 # options are meant to be split
theirs() { cyclictest $options --json=theirs.json >theirs.txt; }
# shellcheck disable=SC2086
ours() { punctual cyclictest $options --json=ours.json >ours.txt; }

# twice: the first run of anything also fills caches that the second finds full
theirs || exit 1
theirs || exit 1
[ -x /bin/punctual ] || exit 0
ours || exit 1
ours || exit 1
punctual measure --no-store --quiet --duration 5s --json >measure.json || exit 1
punctual measure --no-store --quiet --duration 2s >measure.txt || exit 1
