#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# From the initramfs to the systemd on a disk: takes along what a test needs and lets go of the rest.
for disk in /sys/block/vd*; do
	[ "$(cat "$disk/serial")" = root ] && root=/dev/${disk##*/}
done
mount -t ext4 "$root" /mnt || poweroff -f
for file in /bin/*; do
	[ -L "$file" ] || cp "$file" /mnt/usr/bin/
done
rm -rf /mnt/test.sh /mnt/modules /mnt/out
cp -r /lib.sh /settings /session.sh /modules /boot /mnt/
[ ! -e /test.sh ] || cp /test.sh /mnt/
mkdir /mnt/out
mount -t tmpfs out /mnt/out
umount /dev/pts /dev/shm /sys/kernel/debug /sys/kernel/tracing
for place in proc sys dev run; do
	mount --move "/$place" "/mnt/$place"
done
exec switch_root /mnt /sbin/init
