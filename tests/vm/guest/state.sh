#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# boards: rt-4 stock-4 rt-4-isolated cgroup-v1 arm-biglittle rt612-4
# limit: 120
# The recorder of a board's settable state: two records of a board left alone are equal; each of some
# changes of various kinds shows, in one line, and is gone when it is undone.
. /lib.sh
if ! [ -x /bin/boardstate ]; then
	skip recorder "no compiler for this architecture"
	exit 0
fi

record() { boardstate >"$1.state"; }

# NAME FILE VALUE: change, see it, undo, see nothing
shows() {
	if ! [ -w "$2" ]; then
		skip "$1" "this board has no $2"
		return
	fi
	old=$(cat "$2")
	echo "$3" >"$2"
	record changed
	echo "$old" >"$2"
	record undone
	equal "$1-shows" "$(diff before.state changed.state | grep -c '^+[^+]')" 1
	check "$1-undone" cmp before.state undone.state
}

record before
sleep 1
record again
check repeats cmp before.state again.state
[ "$(wc -l <before.state)" -gt 500 ] && ok size || not_ok size "$(wc -l <before.state) lines"
shows sysctl /proc/sys/kernel/sched_rt_runtime_us 900000
shows interrupts /proc/irq/default_smp_affinity 1
shows workqueue /sys/devices/virtual/workqueue/cpumask 1
shows cpu /sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us 100
diff before.state again.state >repeats.diff
rm -f changed.state undone.state again.state

# a kernel thread's priority is no file
pid=$(pidof rcu_preempt rcu_sched | cut -d' ' -f1)
was=$(chrt -p "$pid" | sed -n 's/.*priority: //p')
kind=$(chrt -p "$pid" | grep -q FIFO && echo f || echo o)
chrt -f -p 7 "$pid"
record changed
equal kthread-shows "$(diff before.state changed.state | grep -c '^+kthread rcu_')" 1
chrt -$kind -p "$was" "$pid"
record undone
check kthread-undone cmp before.state undone.state

if [ -x /bin/punctual ]; then
	punctual measure --no-store --quiet --duration 2s >/dev/null
	record measured
	check measure-leaves-nothing cmp before.state measured.state
	diff before.state measured.state >measured.diff
fi
exit 0
