#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Does punctual measure what cyclictest measures? Both on the same CPU at the same priority and
interval, both holding /dev/cpu_dma_latency at 0, in pairs whose order is random. Prints the ratio of
the medians and of the p99 (ours / theirs) with a bootstrap interval over pairs.

usage: fidelity.py [--punctual FILE] [--pairs N] [--seconds S] [--cpu N]
"""
import argparse
import math
import os
import random
import subprocess
import sys


def quantile(rows, share):
    """Within a histogram of whole microseconds, spread evenly inside a row."""
    total = sum(count for _, count in rows)
    wanted, below = share * total, 0
    for low, count in rows:
        if below + count >= wanted:
            return low + (wanted - below) / count
        below += count
    return float("nan")


def one_run(program, cpu, seconds):
    command = [*program, "-q", "-m", "-t1", f"-a{cpu}", "-p95", "-i1000", f"-D{seconds}", "-h20000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = []
    for line in done.stdout.splitlines():
        word = line.split()
        if len(word) == 2 and word[0].isdigit() and int(word[1]):
            rows.append((int(word[0]), int(word[1])))
    return quantile(rows, 0.5), quantile(rows, 0.99)


def interval(ratios, rounds=4000):
    """Bootstrap of whole pairs: the geometric mean and its 95 % interval."""
    generator = random.Random(1)
    logs = [math.log(r) for r in ratios]
    means = sorted(sum(generator.choice(logs) for _ in logs) / len(logs) for _ in range(rounds))
    return (math.exp(sum(logs) / len(logs)), math.exp(means[int(0.025 * rounds)]),
            math.exp(means[int(0.975 * rounds)]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--punctual", default="build/punctual")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    options = parser.parse_args()
    ours, theirs = [options.punctual, "cyclictest"], ["cyclictest"]
    medians, tails = [], []
    for pair in range(options.pairs):
        order = [("ours", ours), ("theirs", theirs)]
        random.shuffle(order)
        figures = {name: one_run(program, options.cpu, options.seconds) for name, program in order}
        medians.append(figures["ours"][0] / figures["theirs"][0])
        tails.append(figures["ours"][1] / figures["theirs"][1])
        print(f"pair {pair + 1:2}: median {figures['ours'][0]:7.2f} / {figures['theirs'][0]:7.2f} us, "
              f"p99 {figures['ours'][1]:7.2f} / {figures['theirs'][1]:7.2f} us", flush=True)
    for name, ratios in (("median", medians), ("p99", tails)):
        mean, low, high = interval(ratios)
        verdict = "not above" if low <= 1.0 else "ABOVE"
        print(f"{name:7} ours/theirs {mean:.3f}  [{low:.3f}, {high:.3f}]  {verdict}")


if __name__ == "__main__":
    sys.exit(main())
