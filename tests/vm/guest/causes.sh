#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Measures the board beside one known disturbance after the other. MEASURE says with what; each leaves
# NAME.json. cases/causes.py says what must have been seen.
. /lib.sh
insmod /modules/labnoise.ko || exit 1
echo on >/proc/sys/kernel/printk_devkmsg

# KIND US: the module's disturbance, some 35 times in 4 s, out of step with a period of 1 ms
noise() {
	i=0
	while [ $i -lt 35 ]; do
		echo "$1 $2" >/sys/module/labnoise/parameters/make || not_ok "$1" "the module refused"
		usleep 113370
		i=$((i + 1))
	done
}

throttled() { # RUNTIME
	echo "$1" >/proc/sys/kernel/sched_rt_runtime_us
	# somebody must want the time that is taken from the real-time task
	hog spin 0 1000000 0 6 &
	hog spin 80 1000000 0 5
	echo 950000 >/proc/sys/kernel/sched_rt_runtime_us
	dmesg | grep -q 'RT throttling activated' && echo 1 >throttling-told
}

flood_console() {
	i=0
	while [ $i -lt 1500 ]; do
		echo "line $i of a flood, as long as the complaint of a driver" >/dev/kmsg
		i=$((i + 1))
	done
}

disturb() { # NAME
	case $1 in
	quiet) sleep 5 ;;
	hog-fifo-99) hog spin 99 2000 97370 5 ;;
	hog-fifo-50) hog spin 50 2000 97370 5 ;;
	preempt-off) noise preempt-off 3000 ;;
	irqs-off) noise irqs-off 3000 ;;
	raw-spinlock) noise raw-spinlock 1500 ;;
	bh-off) noise bh-off 3000 ;;
	plain-loop) noise plain 3000 ;;
	throttling) throttled 950000 ;;
	no-throttling) throttled -1 ;;
	console-flood) flood_console ;;
	disk-flood) hog read /dev/vda 5 ;;
	memory-pressure) hog memory 300 5 ;;
	esac
}

# What a cause needs beforehand. What has been read of a disk that is open fills the memory, so that
# whoever takes some must have it taken back.
prepare() { # NAME
	[ "$1" = memory-pressure ] || return
	exec 8</dev/vda
	dd bs=1M count=300 <&8 >/dev/null 2>&1
}

# How much the kernel counts of what a cause does, so that it proves itself where it delays nobody.
count() { # NAME
	case $1 in
	disk-flood) awk '/virtio.*-req/ { n += $2 } END { print n + 0 }' /proc/interrupts ;;
	memory-pressure) awk '/^pgscan_(kswapd|direct) / { n += $2 } END { print n + 0 }' /proc/vmstat ;;
	*) echo 0 ;;
	esac
}

measure() { # NAME
	case $MEASURE in
	cyclictest) cyclictest -q -m -p95 -t1 -i1000 -D5 "--json=$1.json" ;;
	punctual) punctual measure --no-store --quiet --duration 5s --json >"$1.json" ;;
	esac
}

# The tool first, the disturbance when it has long been measuring: a spinning FIFO thread would not
# let it start.
for cause in $CAUSES; do
	prepare "$cause"
	before=$(count "$cause")
	{
		sleep 1
		disturb "$cause"
	} &
	measure "$cause" || not_ok "$cause" "$MEASURE: status $?"
	wait
	echo $(($(count "$cause") - before)) >"$cause.count"
	exec 8<&-
done

hog faults 4 2 >faults-fresh.json
hog faults 4 2 locked >faults-locked.json
exit 0
