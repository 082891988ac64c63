#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long `punctual topology` takes on boards of 10, 100 and 1,000 CPUs, composed for the purpose
(four caches, a frequency policy and three idle states each); lscpu beside it on the same trees, in
turns.

usage: topology.py [--punctual FILE] [--rounds N]
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "tests/boards"))
import make_board  # noqa: E402  pylint: disable=wrong-import-position


def once(command):
    """(wall ms, CPU ms) of one run."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise SystemExit(f"{command}: exit {process.returncode}")
    return wall * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def row(name, cpus, runs):
    wall, cpu = zip(*runs)
    print(f"{cpus:6} {name:20} {min(wall):12.1f} {statistics.median(wall):12.1f} "
          f"{statistics.median(cpu):12.1f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--punctual", default="build/punctual")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print(f"{'CPUs':>6} {'':20} {'wall, min ms':>12} {'median ms':>12} {'CPU, ms':>12}")
    for cpus in (10, 100, 1000):
        with tempfile.TemporaryDirectory() as tree:
            make_board.server(tree, cpus, threads=1)
            commands = {
                "punctual topology": [options.punctual, "topology", "--sysroot", tree],
                "punctual, JSON": [options.punctual, "topology", "--sysroot", tree, "--json"],
                "lscpu": ["lscpu", "--sysroot", tree],
            }
            runs = {name: [] for name in commands}
            for _ in range(options.rounds):
                for name, command in commands.items():
                    runs[name].append(once(command))
            for name, result in runs.items():
                row(name, cpus, result)


if __name__ == "__main__":
    main()
