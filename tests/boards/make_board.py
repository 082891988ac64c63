#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Composes recorded trees of boards that do not exist, for tests and benchmarks.

    make_board.py big-little DIR      one of the small boards below
    make_board.py --cpus 1000 DIR     a server of so many CPUs
    make_board.py --list
"""
import argparse
import os
import struct
import sys

CPU = "sys/devices/system/cpu"


def write(root, path, content):
    """A file of the tree; numbers as the kernel writes them, bytes as they are."""
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    if not isinstance(content, bytes):
        content = f"{content}\n".encode()
    with open(full, "wb") as file:
        file.write(content)


def write_all(root, base, files):
    for name, content in files.items():
        write(root, f"{base}/{name}", content)


def link(root, path, target):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    os.symlink(target, full)


def cells(*values):
    """A device-tree property of numbers."""
    return struct.pack(f">{len(values)}I", *values)


def text(*values):
    """A device-tree property of texts."""
    return b"".join(value.encode() + b"\0" for value in values)


def cpu_list(cpus):
    """The kernel's list of CPU numbers: "0-1,3"."""
    runs = []
    for cpu in sorted(cpus):
        if runs and runs[-1][1] == cpu - 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def cpu_mask(cpus, count):
    """The kernel's mask of COUNT CPUs: "00000000,0000000c"."""
    bits = sum(1 << cpu for cpu in cpus)
    words = [f"{bits >> shift & 0xffffffff:08x}" for shift in range(0, max(count, 1), 32)]
    return ",".join(reversed(words))


def topology(root, cpu, core, siblings, package, members, **more):
    write_all(root, f"{CPU}/cpu{cpu}/topology", {
        "core_id": core,
        "thread_siblings_list": cpu_list(siblings),
        "physical_package_id": package,
        "core_siblings_list": cpu_list(members),
        **more,
    })


def cache(root, cpu, index, level, kind, size, cpus):
    write_all(root, f"{CPU}/cpu{cpu}/cache/index{index}", {
        "level": level, "type": kind, "size": size, "shared_cpu_list": cpu_list(cpus),
    })


def policy(root, number, cpus, low, high, governor, driver, **more):
    write_all(root, f"{CPU}/cpufreq/policy{number}", {
        "related_cpus": " ".join(map(str, cpus)), "affected_cpus": " ".join(map(str, cpus)),
        "cpuinfo_min_freq": low, "cpuinfo_max_freq": high,
        "scaling_min_freq": low, "scaling_max_freq": high,
        "scaling_governor": governor, "scaling_driver": driver, **more,
    })


def idle(root, cpu, index, name, latency, residency, disable=0):
    write_all(root, f"{CPU}/cpu{cpu}/cpuidle/state{index}", {
        "name": name, "desc": name, "latency": latency, "residency": residency,
        "disable": disable,
    })


def arm_cpuinfo(parts):
    """Sections of proc/cpuinfo for (CPU, part) pairs."""
    return "\n".join(
        f"processor\t: {cpu}\nBogoMIPS\t: 48.00\nFeatures\t: fp asimd evtstrm crc32 cpuid\n"
        f"CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\n"
        f"CPU part\t: 0x{part:x}\nCPU revision\t: 4\n" for cpu, part in parts)


def x86_cpuinfo(cpus, name):
    return "\n".join(
        f"processor\t: {cpu}\nvendor_id\t: GenuineIntel\nmodel name\t: {name}\n"
        f"flags\t\t: fpu vme lm constant_tsc\n" for cpu in cpus)


def sets(root, **named):
    write_all(root, CPU, named)


def uniprocessor(root):
    """An ARM7 of 2005: no sysfs, no CPU number anywhere but in proc/stat."""
    write(root, "proc/sys/kernel/osrelease", "2.6.16")
    write(root, "proc/cpuinfo",
          "Processor\t: ARM720T rev 2 (v4l)\nBogoMIPS\t: 43.62\nFeatures\t: swp half thumb\n"
          "CPU implementer\t: 0x41\nCPU architecture: 4T\nCPU variant\t: 0x00\n"
          "CPU part\t: 0x720\nCPU revision\t: 2\n\nHardware\t: A small board")
    write(root, "proc/stat", "cpu  1 2 3 4\ncpu0 1 2 3 4")


def big_little_tree(root, clusters):
    """The device tree of big_little."""
    base = "sys/firmware/devicetree/base"
    write_all(root, base, {"model": text("Acme Falcon rev B"),
                           "compatible": text("acme,falcon-b", "acme,falcon")})
    write_all(root, f"{base}/psci", {"compatible": text("arm,psci-1.0"), "method": text("smc")})
    for number, cluster in enumerate(clusters):
        write_all(root, f"{base}/cpus/idle-states/{cluster['idle']}", {
            "compatible": text("arm,idle-state"), "phandle": cells(0x20 + number),
            "entry-latency-us": cells(60), "exit-latency-us": cells(522),
            "min-residency-us": cells(2000 + number), "local-timer-stop": b"",
        })
        write(root, f"{base}/psci/power-domain-cluster{number}/phandle", cells(0x30 + number))
        for core, cpu in enumerate(cluster["cpus"]):
            node = f"cpu@{number * 0x100 + core:x}"
            write_all(root, f"{base}/cpus/{node}", {
                "device_type": text("cpu"), "compatible": text(cluster["compatible"]),
                "reg": cells(number * 0x100 + core), "enable-method": text("psci"),
                "capacity-dmips-mhz": cells(cluster["dmips"]), "phandle": cells(0x40 + cpu),
                "cpu-idle-states": cells(0x20 + number), "power-domains": cells(0x30 + number),
            })
            write(root, f"{base}/cpus/cpu-map/cluster{number}/core{core}/cpu", cells(0x40 + cpu))
            link(root, f"{CPU}/cpu{cpu}/of_node",
                 f"../../../../firmware/devicetree/base/cpus/{node}")


def big_little(root):
    """Four small cores, two big ones that are kept for real-time tasks, with a device tree."""
    clusters = [
        {"cpus": [0, 1, 2, 3], "part": 0xd03, "capacity": 379, "dmips": 522, "khz": 1512000,
         "idle": "cpu-sleep-little", "compatible": "arm,cortex-a53", "l2": "512K"},
        {"cpus": [4, 5], "part": 0xd08, "capacity": 1024, "dmips": 1024, "khz": 2016000,
         "idle": "cpu-sleep-big", "compatible": "arm,cortex-a72", "l2": "1024K"},
    ]
    everyone = range(6)
    write(root, "proc/sys/kernel/osrelease", "6.6.52-rt43")
    write(root, "proc/sys/kernel/arch", "aarch64")
    write(root, "proc/cpuinfo", arm_cpuinfo(
        (cpu, cluster["part"]) for cluster in clusters for cpu in cluster["cpus"]))
    sets(root, present="0-5", online="0-5", possible="0-5", isolated="4-5", nohz_full="4")
    big_little_tree(root, clusters)
    write_all(root, f"{CPU}/cpuidle", {"current_driver": "psci_idle", "current_governor": "menu"})
    for number, cluster in enumerate(clusters):
        policy(root, cluster["cpus"][0], cluster["cpus"], 408000, cluster["khz"],
               "schedutil" if number == 0 else "performance", "cpufreq-dt",
               cpuinfo_transition_latency=40000)
        for core, cpu in enumerate(cluster["cpus"]):
            topology(root, cpu, core, [cpu], 0, everyone, cluster_id=number,
                     cluster_cpus_list=cpu_list(cluster["cpus"]))
            write(root, f"{CPU}/cpu{cpu}/cpu_capacity", cluster["capacity"])
            cache(root, cpu, 0, 1, "Data", "32K", [cpu])
            cache(root, cpu, 1, 1, "Instruction", "32K" if number == 0 else "48K", [cpu])
            cache(root, cpu, 2, 2, "Unified", cluster["l2"], cluster["cpus"])
            idle(root, cpu, 0, "WFI", 1, 1)
            idle(root, cpu, 1, cluster["idle"], 582, 2000 + number, disable=int(cpu == 4))


def holes(root):
    """Numbers with holes, CPU 0 off line, lists that name CPUs that are not there."""
    write(root, "proc/version", "Linux version 5.10.0-odd (someone@somewhere) (gcc) #1 SMP")
    sets(root, present="0-1,4-5,130", online="1,4-5,130", possible="0-255",
         isolated="5,7", nohz_full="4-5,200")
    write(root, "proc/cpuinfo", x86_cpuinfo([1, 4, 5, 130], "Some  CPU   @ 2.00GHz"))
    for core, cpu in enumerate([1, 4, 5]):
        topology(root, cpu, core, [cpu], 0, [1, 4, 5])
    topology(root, 130, 0, [130], 1, [130])
    for node, cpus in enumerate(["0-1,4-5", "130", ""]):
        write(root, f"sys/devices/system/node/node{node}/cpulist", cpus)


def smt_split(root):
    """A PC of four cores with two threads each, isolated as if a thread were a core."""
    dmi = "sys/devices/virtual/dmi/id"
    write_all(root, dmi, {"sys_vendor": "Acme", "product_name": "Acme Box 9"})
    link(root, "sys/class/dmi/id", "../../devices/virtual/dmi/id")
    write(root, "proc/sys/kernel/osrelease", "6.1.0-rt")
    write(root, "proc/cpuinfo", x86_cpuinfo(range(8), "Acme(R) X8 CPU @ 3.00GHz"))
    sets(root, present="0-7", online="0-7", possible="0-7", isolated="2-3", nohz_full="2-3")
    for cpu in range(8):
        siblings = [cpu % 4, cpu % 4 + 4]
        topology(root, cpu, cpu % 4, siblings, 0, range(8), die_id=0, die_cpus_list="0-7")
        cache(root, cpu, 0, 1, "Data", "48K", siblings)
        cache(root, cpu, 1, 1, "Instruction", "32K", siblings)
        cache(root, cpu, 2, 2, "Unified", "1280K", siblings)
        cache(root, cpu, 3, 3, "Unified", "12288K", range(8))
        policy(root, cpu, [cpu], 400000, 4700000, "powersave", "intel_pstate",
               scaling_max_freq=3000000)
        for index, (name, latency, residency) in enumerate(
                [("POLL", 0, 0), ("C1", 1, 1), ("C6", 133, 600)]):
            idle(root, cpu, index, name, latency, residency)


def hybrid(root):
    """Two strong cores with two threads, four small ones in one cluster."""
    write(root, "proc/sys/kernel/osrelease", "6.12.0")
    write(root, "proc/sys/kernel/arch", "x86_64")
    write(root, "proc/cpuinfo", x86_cpuinfo(range(8), "Acme Hybrid 6"))
    sets(root, present="0-7", online="0-7", possible="0-7", isolated="")
    write(root, "sys/devices/cpu_core/cpus", "0-3")
    write(root, "sys/devices/cpu_atom/cpus", "4-7")
    for cpu in range(8):
        strong = cpu < 4
        siblings = [cpu & ~1, cpu | 1] if strong else [cpu]
        cluster = siblings if strong else [4, 5, 6, 7]
        topology(root, cpu, cpu & ~1 if strong else cpu + 4, siblings, 0, range(8),
                 cluster_id=cluster[0], cluster_cpus_list=cpu_list(cluster))
        write(root, f"{CPU}/cpu{cpu}/cpu_capacity", 1024 if strong else 621)
        cache(root, cpu, 0, 1, "Data", "48K" if strong else "32K", siblings)
        cache(root, cpu, 2, 2, "Unified", "2048K", cluster)
        policy(root, cpu, [cpu], 400000, 5000000 if strong else 3800000, "powersave",
               "intel_pstate")


def server(root, count=128, threads=2, cluster=4, packages=2, states=3):
    """COUNT CPUs: all that a big machine shows, for the compact picture and for speed."""
    per_package = max(1, count // packages)
    everyone = cpu_list(range(count))
    write(root, "proc/sys/kernel/osrelease", "6.8.0")
    write(root, "proc/sys/kernel/arch", "x86_64")
    write(root, "proc/cpuinfo", x86_cpuinfo(range(count), "Acme Server 9000"))
    sets(root, present=everyone, online=everyone, possible=everyone, isolated="", nohz_full="")
    write_all(root, f"{CPU}/cpuidle", {"current_driver": "acpi_idle", "current_governor": "menu"})
    write_all(root, f"{CPU}/smt", {"active": int(threads > 1),
                                   "control": "on" if threads > 1 else "notsupported"})
    for cpu in range(count):
        package = min(cpu // per_package, packages - 1)
        first = cpu - cpu % threads
        core = range(first, min(first + threads, count))
        group = range(cpu - cpu % (cluster * threads),
                      min(cpu - cpu % (cluster * threads) + cluster * threads, count))
        last = count if package == packages - 1 else (package + 1) * per_package
        mine = range(package * per_package, last)
        topology(root, cpu, first, core, package, mine, die_id=package,
                 die_cpus_list=cpu_list(mine), cluster_id=group[0],
                 cluster_cpus_list=cpu_list(group), core_cpus_list=cpu_list(core),
                 package_cpus_list=cpu_list(mine), ppin="0x0",
                 core_cpus=cpu_mask(core, count), thread_siblings=cpu_mask(core, count),
                 package_cpus=cpu_mask(mine, count), core_siblings=cpu_mask(mine, count),
                 cluster_cpus=cpu_mask(group, count), die_cpus=cpu_mask(mine, count))
        cache(root, cpu, 0, 1, "Data", "32K", core)
        cache(root, cpu, 1, 1, "Instruction", "32K", core)
        cache(root, cpu, 2, 2, "Unified", "1024K", core)
        cache(root, cpu, 3, 3, "Unified", "32768K", mine)
        for index, sharing in enumerate([core, core, core, mine]):
            write(root, f"{CPU}/cpu{cpu}/cache/index{index}/shared_cpu_map",
                  cpu_mask(sharing, count))
        policy(root, cpu, [cpu], 400000, 3700000, "performance", "acpi-cpufreq")
        for index in range(states):
            idle(root, cpu, index, ["POLL", "C1", "C2"][index % 3] + "+" * (index // 3),
                 [0, 1, 400][index % 3], [0, 2, 800][index % 3])
    for node in range(packages):
        last = count if node == packages - 1 else (node + 1) * per_package
        mine = range(node * per_package, last)
        write_all(root, f"sys/devices/system/node/node{node}", {
            "cpulist": cpu_list(mine), "cpumap": cpu_mask(mine, count),
        })


BOARDS = {
    "uniprocessor": uniprocessor, "big-little": big_little, "holes": holes,
    "smt-split": smt_split, "hybrid": hybrid, "server": server,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--cpus", type=int)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("words", nargs="*", metavar="[NAME] DIR")
    args = parser.parse_args()
    if args.list:
        for name, board in BOARDS.items():
            print(f"{name:14} {board.__doc__.splitlines()[0]}")
        return 0
    if args.cpus and len(args.words) == 1:
        server(args.words[0], args.cpus, threads=args.threads)
    elif len(args.words) == 2 and args.words[0] in BOARDS:
        BOARDS[args.words[0]](args.words[1])
    else:
        parser.error("needs NAME DIR, or --cpus N DIR")
    return 0


if __name__ == "__main__":
    sys.exit(main())
