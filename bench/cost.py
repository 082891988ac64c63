#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sample costs. User instructions by callgrind, as the slope between two sample counts (so that
start and end cancel), ours beside cyclictest's; peak memory for 4 and 128 threads; time from the
program's start to its first sample.

usage: cost.py [--punctual FILE]
"""
import argparse
import json
import os
import re
import resource
import subprocess
import tempfile
import time


def instructions(command):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out",
                               *command], capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def slope(make, few=2000, many=12000):
    return (instructions(make(many)) - instructions(make(few))) / (many - few)


def peak_kib(command):
    """Peak resident memory of a child, from wait4."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command}: exit {status}")
    return usage.ru_maxrss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--punctual", default="build/punctual")
    parser.add_argument("--store", default=None)
    options = parser.parse_args()
    program, cpu = options.punctual, max(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        store = ["--store", f"{folder}/bench.db"]
        measure = [program, "measure", "--quiet", "--cpus", str(cpu)]
        print("user instructions a sample (callgrind, slope between 2,000 and 12,000 samples)")
        print(f"  punctual measure, everything on   {slope(lambda n: measure + store + ['--samples', str(n)]):8.1f}")
        print(f"  punctual measure --no-store       {slope(lambda n: measure + ['--no-store', '--samples', str(n)]):8.1f}")
        mode = [program, "cyclictest", "-q", "-m", "-t1", f"-a{cpu}", "-p95", "-i1000"]
        print(f"  punctual cyclictest -h 100        {slope(lambda n: mode + ['-h100', f'-l{n}']):8.1f}")
        theirs = ["cyclictest", "-q", "-m", "-t1", f"-a{cpu}", "-p95", "-i1000"]
        print(f"  cyclictest                        {slope(lambda n: theirs + [f'-l{n}']):8.1f}")
        print(f"  cyclictest -h 100                 {slope(lambda n: theirs + ['-h100', f'-l{n}']):8.1f}")

        print("peak resident memory, KiB")
        four = [program, "cyclictest", "-q", "-m", f"-a{cpu}", "-p95", "-i2000", "-D2"]
        one, few, lots = (peak_kib(four + [f"-t{n}"]) for n in (1, 4, 128))
        print(f"  1, 4 and 128 threads              {one:8} {few:8} {lots:8}")
        print(f"  growth a thread, 4 to 128         {(lots - few) / 124:8.1f}")
        run = peak_kib([program, "measure", "--quiet", *store, "--duration", "3s"])
        print(f"  measure, all CPUs here, stored    {run:8}")

    begun = time.time()
    done = subprocess.run([program, "measure", "--json", "--quiet", "--no-store", "--samples", "1",
                           "--cpus", str(cpu)], capture_output=True, text=True, check=True)
    started = json.loads(done.stdout)["started"]
    whole, part = re.match(r"(.*)\.(\d+)Z", started).groups()
    instant = time.mktime(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) - time.timezone + float("0." + part)
    print(f"start of the program to the first sample: {(instant - begun) * 1e3:.1f} ms (fork and exec too)")


if __name__ == "__main__":
    main()
