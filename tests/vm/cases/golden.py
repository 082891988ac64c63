# SPDX-License-Identifier: GPL-2.0-or-later
"""The golden bench: on a board whose time is instructions, a run repeats to the byte, and a tool's
own share of a latency shows.

Golden files, golden/BOARD_KERNEL.json, hold the figures in whole microseconds. They count where
kernel, QEMU and rt-tests are those they were made with; elsewhere run is compared with run, and
figures with ranges. `vm.py test --update-golden golden` writes them: a change there is a decision.

Within one image a run repeats to the byte. With each build of ours it is another image, of another
size: where memory lies and when what happens moves all figures, theirs too, by a fraction of a
microsecond, which may be the one that the next whole number needs. Hence NEAR_US."""

import json
import re

from lab import host
from lab.suite import VM, case

RUNS = 3
MOST_RUNS = 8
# A single sample of thousands makes the minimum, in either tool: chance, up to two microseconds.
SLACK_US = {"min": 2, "p50": 0, "p99": 0}
NEAR_US = {"min": 2, "p50": 1, "p99": 1}
RANGES_US = {"min": (20, 45), "p50": (20, 50), "p99": (20, 80), "max": (20, 400)}


def figures(told):
    """Figures in us of a document in cyclictest's JSON."""
    thread = told["thread"]["0"]
    histogram = sorted((int(us), count) for us, count in thread["histogram"].items())
    total = sum(count for _us, count in histogram)
    return {"min": thread["min"], "p50": quantile(histogram, total, 50),
            "p99": quantile(histogram, total, 99), "max": thread["max"]}


def quantile(histogram, total, percent):
    """The smallest value that PERCENT of all samples do not exceed."""
    seen = 0
    for value, count in histogram:
        seen += count
        if seen * 100 >= total * percent:
            return value
    raise ValueError("the histogram is empty")


def versions():
    """What besides the kernel makes the figures what they are."""
    qemu = re.search(r"version (\S+)", host.output([host.need("qemu-system-x86_64"), "--version"]))
    rt_tests = re.search(r"V ([\d.]+)", host.output([host.need("cyclictest"), "--help"]))
    return {"qemu": qemu and qemu.group(1), "rt-tests": rt_tests and rt_tests.group(1)}


def content(guest):
    """All that a run must repeat, byte by byte."""
    files = {name: data for name, data in guest.files.items() if name != "status"}
    return {**files, "console": guest.console.encode()}


def repeat(case_):
    """A run whose every byte RUNS runs agree on. On a loaded host QEMU itself lets about one run of
    ten go another way (7.2: cyclictest's output alone shows it), hence MOST_RUNS."""
    # A tick that stops when idle makes every fourth wake-up dearer, the more so the longer nothing
    # else woke the CPU: cyclictest, whose main thread wakes every 10 ms, would gain 2 us by that.
    board = case_.variant(boot="nohz=off")
    runs = []
    for _ in range(MOST_RUNS):
        runs.append(case_.run("golden", board=board))
        for run in runs:
            if sum(content(other) == content(run) for other in runs) >= RUNS:
                case_.check("repeats", True)
                return run
    first = content(runs[0])
    differing = [name for name in first
                 if any(content(run).get(name) != first[name] for run in runs)]
    case_.check("repeats", False, f"no {RUNS} of {MOST_RUNS} runs agree: {' '.join(differing)}")
    return runs[0]


def compare_golden(case_, measured):
    version = case_.lab.kernel(case_.board.kernel).version
    path = VM / "golden" / f"{case_.board.name}_{version}.json"
    # one sample decides the maximum; ours also depends on what else the tool did in that moment
    kept = {who: {name: us for name, us in told.items() if name != "max"}
            for who, told in measured.items()}
    now = {"with": versions(), **kept}
    if case_.update_golden and "ours" in kept:
        path.write_text(json.dumps(now, indent=1) + "\n")
    golden = json.loads(path.read_text()) if path.exists() else {}
    if golden.get("with") != now["with"]:
        of = ", ".join(f"{name} {number}" for name, number in now["with"].items())
        case_.skip("golden-figures", f"none for kernel {version}, {of}: runs are only compared "
                                     "with each other, and with ranges")
        return
    for who, told in kept.items():
        for figure, us in told.items():
            wanted, near = golden[who][figure], NEAR_US[figure]
            case_.within(f"{who}-golden-{figure}", us, wanted - near, wanted + near)


def check_ranges(case_, measured):
    for who, told in measured.items():
        for figure, (low, high) in RANGES_US.items():
            case_.within(f"{who}-{figure}", told[figure], low, high)


@case("rt-1", "stock-1", limit=120)
def golden(case_):
    first = repeat(case_)
    measured = {"theirs": figures(first.json("theirs.json"))}
    if "ours.json" in first.files:
        measured["ours"] = figures(first.json("ours.json"))
        for figure, slack in SLACK_US.items():
            ours, theirs = measured["ours"][figure], measured["theirs"][figure]
            case_.check(f"{figure}-not-above-theirs", ours <= theirs + slack,
                        f"{ours} us, theirs {theirs} us")
        check_layout(case_, first)
    else:
        case_.skip("ours", "no build-static/punctual has been built")
    check_ranges(case_, measured)
    compare_golden(case_, measured)


def check_layout(case_, guest):
    """Where they print the same kind of line, ours is laid out as theirs."""
    def shape(text):
        return [re.sub(r"\d", "9", line) for line in text.splitlines() if line.startswith("#")
                and not line.startswith("# Thread")]
    case_.equal("layout", shape(guest.text("ours.txt")), shape(guest.text("theirs.txt")))
