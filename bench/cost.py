#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sample costs. User instructions by callgrind, thread by thread, as the slope between two sample
counts (so that start and end cancel), ours beside cyclictest's; peak memory for 4 and 128 threads; time from the
program's start to its first sample.

usage: cost.py [--punctual FILE]
"""
import argparse
import contextlib
import json
import os
import re
import subprocess
import tempfile
import time


def instructions(command):
    """User instructions of the main thread, and of the busiest other one: the sampler."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["valgrind", "--tool=callgrind", "--separate-threads=yes",
                        f"--callgrind-out-file={folder}/out", *command],
                       capture_output=True, check=False)
        threads = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name)) as file:
                text = file.read()
            number, total = re.search(r"^thread: (\d+)", text, re.M), re.search(r"^totals: (\d+)", text, re.M)
            if number and total:
                threads[int(number.group(1))] = int(total.group(1))
    main = threads.pop(1)
    return main, max(threads.values())


def slope(make, few=10000, many=30000):
    """A sample's share: what grows with the number of samples."""
    before, after = instructions(make(few)), instructions(make(many))
    return [(b - a) / (many - few) for a, b in zip(before, after)]


def peak_kib(command):
    """Peak resident memory of a program that runs for seconds: the last VmHWM seen of it. (What wait4
    tells counts the forked interpreter too.)"""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        with contextlib.suppress(OSError):
            with open(f"/proc/{process.pid}/status") as file:
                found = re.search(r"^VmHWM:\s+(\d+)", file.read(), re.M)
            peak = max(peak, int(found.group(1))) if found else peak
        time.sleep(0.02)
    if process.returncode:
        raise SystemExit(f"{command}: exit {process.returncode}")
    return peak


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--punctual", default="build/punctual")
    parser.add_argument("--store", default=None)
    options = parser.parse_args()
    program, cpu = options.punctual, max(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        store = ["--store", f"{folder}/bench.db"]
        measure = [program, "measure", "--quiet", "--cpus", str(cpu)]
        print("user instructions a sample (callgrind, slope between 10,000 and 30,000 samples)")
        print("                                     sampling thread   all others")
        mode = [program, "cyclictest", "-q", "-m", "-t1", f"-a{cpu}", "-p95", "-i1000"]
        theirs = ["cyclictest", "-q", "-m", "-t1", f"-a{cpu}", "-p95", "-i1000"]
        for name, command in (
                ("punctual measure", measure + store + ["--samples"]),
                ("punctual measure --no-store", measure + ["--no-store", "--samples"]),
                ("punctual cyclictest -h100", mode + ["-h100", "-l"]),
                ("cyclictest", theirs + ["-l"]),
                ("cyclictest -h100", theirs + ["-h100", "-l"])):
            control, sampler = slope(lambda n: command + [str(n)])
            print(f"  {name:34} {sampler:15.1f} {control:12.1f}", flush=True)

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
