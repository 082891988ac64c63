#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# boards: rt-4 stock-4 systemd cgroup-v1 arm-4 arm-biglittle rt612-4
# limit: 120
# The recorder of a board's settable state: two records of a board left alone are equal; a change of
# each kind shows, and nothing else does; undone, all is as it was.
. /lib.sh
if ! [ -x /bin/boardstate ]; then
	skip recorder "no compiler for this architecture"
	exit 0
fi
cpu=/sys/devices/system/cpu

record() { boardstate >"$1.state"; }

# What was changed, one "NAME PLACE" a line; a place is what a line of the record starts with.
planted() { echo "$1 $2" >>/tmp/planted; }

# NAME FILE VALUE: writes VALUE
plant() {
	if ! [ -w "$2" ]; then
		not_ok "$1" "this board has no $2"
		return
	fi
	old=$(cat "$2")
	case $old in # one of several words
	*\[*\]*) old=${old#*\[} old=${old%%\]*} ;;
	esac
	if echo "$3" 2>/tmp/refused >"$2"; then
		echo "echo '$old' >$2" >>/tmp/undo
		planted "$1" "$2"
	else
		not_ok "$1" "$2 refuses $3"
	fi
}

# The first interrupt that lets itself be moved and is silent meanwhile; its list says the same.
plant_interrupt() {
	for irq in /proc/irq/[0-9]*; do
		old=$(cat "$irq/smp_affinity")
		(echo 2 >"$irq/smp_affinity") 2>/dev/null || continue
		echo "echo $old >$irq/smp_affinity" >>/tmp/undo
		planted interrupt "$irq/smp_affinity"
		planted interrupt-list "$irq/smp_affinity_list"
		return
	done
	not_ok interrupt "none can be moved"
}

pid_of() { # NAME of a kernel thread
	for task in /proc/[0-9]*; do
		[ "$(cat "$task/comm" 2>/dev/null)" = "$1" ] && echo "${task#/proc/}"
	done
}

# Another governor than the present one, whose thread goes with it.
plant_governor() {
	policy=$cpu/cpufreq/policy0
	governor=$(cat $policy/scaling_governor)
	[ "$governor" = schedutil ] && planted governor-thread "kthread sugov:0"
	plant governor $policy/scaling_governor \
		"$(tr ' ' '\n' <$policy/scaling_available_governors | grep -vx "$governor" | head -n 1)"
}

plant_threads() {
	for name in rcu_preempt rcu_sched; do
		pid=$(pid_of $name)
		[ -n "$pid" ] && break
	done
	was=$(chrt -p "$pid" | sed -n 's/.*priority: //p')
	kind=$(chrt -p "$pid" | grep -q FIFO && echo f || echo o)
	chrt -f -p 7 "$pid" && planted kthread-priority "kthread $name"
	echo "chrt -$kind -p $was $pid" >>/tmp/undo
	pid=$(pid_of kswapd0)
	was=$(taskset -p "$pid" | sed 's/.*: //')
	taskset -p 2 "$pid" >/dev/null && planted kthread-affinity "kthread kswapd0"
	echo "taskset -p $was $pid >/dev/null" >>/tmp/undo
	pid=$(pid_of khungtaskd)
	renice 3 -p "$pid" >/dev/null && planted kthread-nice "kthread khungtaskd"
	echo "renice 0 -p $pid >/dev/null" >>/tmp/undo
}

plant_rest() {
	mkdir /tmp/left
	mount -t tmpfs left /tmp/left && planted mount "mount left"
	echo "umount /tmp/left" >>/tmp/undo
	exec 7>/dev/cpu_dma_latency
	printf '\001\000\000\000' >&7 && planted dma-latency /dev/cpu_dma_latency
	echo "exec 7>&-" >>/tmp/undo
}

# The lines of the record that differ between before and $1: what they start with
differing() {
	# -U, as busybox knows no other form; its heads start with --- and +++
	diff -U 0 before.state "$1.state" | sed -n 's/^[-+]\([^-+]\)/\1/p' |
		sed 's/ [=!] .*//; s/^mount \([^ ]*\) .*/mount \1/' | sort -u
}

record before
sleep 1
record again
check repeats cmp before.state again.state
diff before.state again.state >repeats.diff
[ "$(wc -l <before.state)" -gt 900 ] && ok size || not_ok size "$(wc -l <before.state) lines"

plant sysctl /proc/sys/kernel/sched_rt_runtime_us 900000
plant printk /proc/sys/kernel/printk "5 4 1 7"
plant default-affinity /proc/irq/default_smp_affinity 1
plant workqueue /sys/devices/virtual/workqueue/cpumask 1
plant idle-limit $cpu/cpu1/power/pm_qos_resume_latency_us 100
plant receive-steering /sys/class/net/lo/queues/rx-0/rps_cpus 1
plant same-page /sys/kernel/mm/ksm/pages_to_scan 200
plant module /sys/module/printk/parameters/time N
plant tracing /sys/kernel/tracing/trace_clock mono
plant device-power "$(readlink -f /sys/bus/pci/devices/0000:00:00.0)/power/control" auto
case $LAB_CGROUP in
1) plant control-group /sys/fs/cgroup/cpuset/cpuset.memory_pressure_enabled 1 ;;
*) plant control-group /sys/fs/cgroup/cgroup.max.depth 7 ;;
esac
# what boards were declared to have
if [ "$LAB_BIG_LITTLE" = 1 ]; then
	plant idle-state $cpu/cpu1/cpuidle/state1/disable 1
	plant_governor
fi
if [ "$LAB_NULL_DISKS" -gt 0 ] || [ "$LAB_SYSTEMD" = 1 ]; then
	plant block-queue /sys/block/vda/queue/nomerges 2
fi
if [ "$LAB_REALTIME" = 0 ]; then # PREEMPT_RT is built without
	plant huge-pages /sys/kernel/mm/transparent_hugepage/defrag defer
fi
plant_interrupt
plant_threads
plant_rest
record changed
differing changed >differing.txt
while read -r name place; do
	check "$name-shows" grep -qxF "$place" differing.txt
done </tmp/planted
cut -d' ' -f2- /tmp/planted | sort -u >planted.txt
equal nothing-else-shows "$(grep -vxFf planted.txt differing.txt | tr '\n' ' ')" ""
. /tmp/undo
record undone
equal undone "$(differing undone | tr '\n' ' ')" ""

# taking a CPU away changes much at once
echo 0 >$cpu/cpu1/online
record without
equal off-line-shows "$(differing without | grep -xF $cpu/cpu1/online)" $cpu/cpu1/online
echo 1 >$cpu/cpu1/online
record back
# an interrupt that had to leave takes its thread along when it comes next
equal on-line-again "$(differing back | grep -v '^kthread irq/' | tr '\n' ' ')" ""

if [ -x /bin/punctual ]; then
	punctual measure --no-store --quiet --duration 2s >/dev/null
	record measured
	equal measure-leaves-nothing "$(diff back.state measured.state | tr '\n' ' ')" ""
fi
rm -f again.state undone.state without.state back.state measured.state
exit 0
