#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs /test.sh when the board is ready, hands /out back and turns the board off.
# What goes back through the channel: lines "@lab WORD ...", then "@lab tar" and a tar of /out.
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/root
. /settings

# A virtio port has no name before its driver has spoken with the other side.
tries=0
while [ ! -c "$LAB_CHANNEL" ] && [ $tries -lt 1000 ]; do
	for port in /sys/class/virtio-ports/*; do
		[ "$(cat "$port/name" 2>/dev/null)" = lab ] && ln -sf "/dev/${port##*/}" "$LAB_CHANNEL"
	done
	tries=$((tries + 1))
	busybox usleep 10000
done
case $LAB_CHANNEL in /dev/tty*) stty -F "$LAB_CHANNEL" raw -echo ;; esac
exec 9>"$LAB_CHANNEL"
echo "@lab ready $(cut -d' ' -f1 /proc/uptime)" >&9
cd /out || exit
sh /test.sh >/out/log 2>&1 </dev/null
echo $? >/out/status
echo "@lab tar" >&9
tar -c -z -f - -C /out . >&9
exec 9>&-
sync
if [ -d /run/systemd/system ]; then
	systemctl poweroff
else
	poweroff -f
fi
