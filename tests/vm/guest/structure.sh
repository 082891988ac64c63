#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# boards: rt-1 rt-4 stock-4 rt-4-isolated power-4 tiny cgroup-v1 arm-4 arm-biglittle arm32-4 rt612-4
# limit: 60
# Is the board what it was declared to be? By the kernel's own words, without the product.
. /lib.sh
cpu=/sys/devices/system/cpu

same() { # NAME FILE WANTED: an absent parameter reads as "(null)" or nothing
	actual=$(cat "$2" 2>/dev/null)
	[ "$actual" = "(null)" ] && actual=
	equal "$1" "$actual" "$3"
}

last=$((LAB_CPUS - 1))
[ $last -eq 0 ] && all=0 || all=0-$last
same online $cpu/online "$all"
same isolated $cpu/isolated "$LAB_ISOLATED"
same nohz-full $cpu/nohz_full "$LAB_NOHZ_FULL"
siblings=$(tr ',' '\n' <$cpu/cpu0/topology/thread_siblings_list | sed 's/-/ /' |
	awk '{ n += NF == 2 ? $2 - $1 + 1 : 1 } END { print n }')
equal siblings "$siblings" "$LAB_THREADS"
case $LAB_REALTIME in
1) check realtime grep -q 1 /sys/kernel/realtime ;;
*) check not-realtime test ! -e /sys/kernel/realtime ;;
esac
capacities=$(cat $cpu/cpu*/cpu_capacity 2>/dev/null | tr '\n' ' ')
[ -n "$LAB_CAPACITIES" ] && equal capacities "$capacities" "$LAB_CAPACITIES "

if [ "$LAB_NULL_DISKS" = 1 ]; then
	# one queue a CPU, each with a managed interrupt that refuses to be moved
	queues=$(ls /sys/block/vda/mq | wc -l)
	equal disk-queues "$queues" "$LAB_CPUS"
	irq=$(sed -n 's/^ *\([0-9]*\):.*virtio.*-req\.0$/\1/p' /proc/interrupts | head -n 1)
	check disk-interrupt test -n "$irq"
	check managed-interrupt sh -c "! echo 1 >/proc/irq/$irq/smp_affinity"
fi
[ "$LAB_NET" = 1 ] && check network test -e /sys/class/net/eth0
if [ "$LAB_POWER" = 1 ]; then
	equal idle-driver "$(cat $cpu/cpuidle/current_driver)" acpi_idle
	equal idle-latencies "$(cat $cpu/cpu0/cpuidle/state*/latency | tr '\n' ' ')" "0 1 80 600 "
	equal frequencies "$(cat $cpu/cpu3/cpufreq/scaling_available_frequencies)" "2400000 1600000 800000 "
	equal firmware-zone "$(cat /sys/class/thermal/thermal_zone0/temp)" 67000
	check zone-module insmod /modules/labtherm.ko
	echo 91000 >/sys/module/labtherm/parameters/temperature
	equal writable-zone "$(cat /sys/class/thermal/thermal_zone1/temp)" 91000
fi
if [ "$LAB_BIG_LITTLE" = 1 ]; then
	equal idle-latencies "$(cat $cpu/cpu0/cpuidle/state*/latency $cpu/cpu3/cpuidle/state*/latency | tr '\n' ' ')" \
		"1 60 1500 1 1500 "
	equal clusters "$(cat $cpu/cpu*/topology/cluster_id | tr '\n' ' ')" "0 0 1 1 "
	equal frequencies "$(cat $cpu/cpu*/cpufreq/cpuinfo_max_freq | tr '\n' ' ')" \
		"1400000 1400000 2000000 2000000 "
fi
case $LAB_CGROUP in
1) check cgroup-v1 test -e /sys/fs/cgroup/cpuset/cpuset.cpus ;;
*) check cgroup-v2 test -e /sys/fs/cgroup/cgroup.controllers ;;
esac
if [ "$LAB_CPUS" -ge 4 ]; then
	echo 0 >$cpu/cpu1/online
	same off-line $cpu/online 0,2-3
	echo 1 >$cpu/cpu1/online
	same on-line $cpu/online "$all"
fi
exit 0
