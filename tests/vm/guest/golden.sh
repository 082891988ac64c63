#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The figures that cases/golden.py compares: theirs, ours in their form, ours.
. /lib.sh
options="-q -m -p95 -t1 -a0 -i1000 -l5000 -h200"
# twice: the first run of anything also fills caches that the second finds full
for round in 1 2; do
	cyclictest $options --json=theirs.json >theirs.txt || exit 1
	if [ -x /bin/punctual ]; then
		punctual cyclictest $options --json=ours.json >ours.txt || exit 1
		punctual measure --no-store --quiet --duration 5s --json >measure.json || exit 1
		punctual measure --no-store --quiet --duration 2s >measure.txt || exit 1
	fi
done
