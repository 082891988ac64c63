#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Is this a board with systemd that works, and does the product work from its units?
. /lib.sh

state=$(systemctl is-system-running --wait)
failed=$(systemctl list-units --failed --plain --no-legend | cut -d' ' -f1 | tr '\n' ' ')
equal running "$state${failed:+ but $failed}" running
systemd-analyze time >boot.txt 2>&1
check boot-time grep -Eq 'Startup finished in [0-9.]+s \(kernel\) \+ [0-9.]+s \(userspace\)' boot.txt
check udev test -L /dev/disk/by-label/board
check bus busctl --no-pager status

# NAME [SETTING...] COMMAND...: runs a transient unit to its end; what it prints comes back as NAME.json
unit() {
	name=$1
	shift
	systemd-run --quiet --wait --collect --unit="$name" -p StandardOutput="file:/out/$name.json" \
		-p StandardError="file:/out/$name.err" "$@"
}

unit pinned -p CPUAffinity=2 /bin/sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status
equal unit-affinity "$(cat pinned.json)" 2

measure() { # UNIT [SETTING...]
	unit "$@" /usr/bin/punctual measure --no-store --quiet --cpus 1 --duration 1s --json
}

measure root
equal measures-as-root $? 0
measure pinned-measure -p CPUAffinity=3
equal measures-beside-affinity $? 0
measure user -p User=nobody -p LimitRTPRIO=99 -p LimitMEMLOCK=infinity
equal measures-by-limit-rtprio $? 0
exit 0
