# SPDX-License-Identifier: GPL-2.0-or-later
"""Known causes at their known size, on deterministic boards: the worst latency must be the
disturbance's length where it stands in a wake-up's way, and the board's own where it does not.

A spike is at most as long as its cause, because a timer falls somewhere within it: hence 0.75 to
1.05 of the length for what is out of step with the timer."""

import re

from lab.suite import case

# The worst latency in us, on boards that say nothing else: (from, to).
QUIET = (1, 150)
STOCK_QUIET = (1, 400)  # without threaded interrupts their handlers show


def around(us):
    return 0.75 * us, 1.05 * us


CAUSES = {
    # name: (on PREEMPT_RT, on the usual kernel)
    "quiet": (QUIET, STOCK_QUIET),
    "hog-fifo-99": ((1800, 2150), (1800, 2150)),
    "hog-fifo-50": (QUIET, STOCK_QUIET),
    "preempt-off": (around(3000), around(3000)),
    "irqs-off": (around(3000), around(3000)),
    "raw-spinlock": (around(1500), around(1500)),
    "bh-off": (QUIET, around(3000)),
    "plain-loop": (QUIET, around(3000)),
    "throttling": ((48000, 56000), (48000, 56000)),
    "no-throttling": (QUIET, STOCK_QUIET),
    "console-flood": (QUIET, (250, 6000)),
    "disk-flood": (QUIET, STOCK_QUIET),
    "memory-pressure": (QUIET, (500, 20000)),
}
# What the kernel must have counted beside a cause that may delay nobody: interrupts of the disk,
# pages looked at for reclaim.
COUNTED = {"disk-flood": 1000, "memory-pressure": 1000}
FLOOD_LINES = 1500  # as guest/causes.sh writes them
# From 6.12 on a fair server takes the place of throttling, whatever sched_rt_runtime_us says.
CAUSES_612 = {**CAUSES, "no-throttling": CAUSES["throttling"]}


def check_causes(case_, tool, worst_us):
    """Runs all causes with TOOL; worst_us takes the worst latency out of its JSON."""
    board = case_.variant(disks=1)
    kernel = board.kernel
    causes = CAUSES_612 if "612" in kernel else CAUSES
    guest = case_.run("causes", board=board,
                      settings={"MEASURE": tool, "CAUSES": " ".join(causes)})
    for name, (on_rt, on_stock) in causes.items():
        low, high = on_stock if kernel == "stock" else on_rt
        case_.within(name, worst_us(guest.json(f"{name}.json")), low, high)
    for name, least in COUNTED.items():
        count = int(guest.text(f"{name}.count"))
        case_.check(f"{name}-happened", count >= least, f"{count} counted, not {least}")
    lines = guest.console.count("of a flood")
    case_.check("console-flood-happened", lines >= FLOOD_LINES, f"{lines} lines, not {FLOOD_LINES}")
    return guest


@case("rt-1", "stock-1", "rt612-1", limit=180)
def causes_by_cyclictest(case_):
    """Each cause proves itself by a tool that is not ours."""
    guest = check_causes(case_, "cyclictest", lambda told: told["thread"]["0"]["max"])
    fresh, locked = guest.json("faults-fresh.json"), guest.json("faults-locked.json")
    case_.check("page-faults", fresh["mean_ns"] > 100 * locked["mean_ns"], f"{fresh} {locked}")
    case_.check("locked-memory", locked["max_ns"] < 1000000, f"{locked}")
    if "612" not in case_.board.kernel:
        case_.check("throttling-told", "throttling-told" in guest.files,
                    "no line in the kernel's log")


@case("rt-1", "stock-1", "rt612-1", limit=180, product=True)
def causes_by_punctual(case_):
    check_causes(case_, "punctual", lambda told: told["all"]["max_ns"] / 1000)


@case("rt-1", limit=60)
def causes_by_rtla(case_):
    """The kernel's own tracer, timerlat, sees the same in the interrupt and in the thread."""
    guest = case_.run_text("""
        . /lib.sh
        insmod /modules/labnoise.ko || exit 1
        rtla timerlat hist -c 0 -p 1000 -d 3s -E 100 -b 50 >quiet.txt || exit 1
        # it takes its time to set up, so the noise is there for as long as rtla is
        while [ ! -e /tmp/over ]; do
            echo irqs-off 3000 >/sys/module/labnoise/parameters/make
            usleep 113370
        done &
        rtla timerlat hist -c 0 -p 1000 -d 4s -E 100 -b 50 >irqs-off.txt || exit 1
        touch /tmp/over
        wait
    """, name="rtla", board=case_.variant(image="full", memory_mb=1024))
    for name, (low, high) in (("quiet", QUIET), ("irqs-off", around(3000))):
        worst = re.search(r"^max: +(\d+) +(\d+)", guest.text(f"{name}.txt"), re.M)
        irq, thread = map(int, worst.groups())
        case_.within(f"{name}-interrupt", irq, low, high)
        case_.within(f"{name}-thread", thread, low, high)
