# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual boards. One is one declaration; docs/lab.md says how to add another."""

from dataclasses import dataclass

ICOUNT = "icount"  # one CPU, time is instructions: the same in every run, whatever the host does
THREADS = "threads"  # a host thread a CPU: for structure; its latencies are the host's

# A processor of a family that acpi-cpufreq and the kernel's reading of hardware threads know.
INTEL = "max,vendor=GenuineIntel,family=6,model=94,stepping=3"
X86_ISOLATED = "isolcpus=domain,managed_irq,2,3 nohz_full=2,3 rcu_nocbs=2,3 irqaffinity=0-1"


@dataclass(frozen=True)
class Board:
    """sockets × clusters × cores × threads CPUs. isolated and nohz_full are what the boot
    parameters lead to, to be compared with what the product finds."""
    name: str
    about: str
    kernel: str  # a key of lab.kernels.KERNELS
    mode: str = THREADS
    sockets: int = 1
    clusters: int = 1
    cores: int = 4
    threads: int = 1
    memory_mb: int = 512
    boot: str = ""
    image: str = "lean"  # a key of lab.image.KINDS
    disks: int = 0  # virtio disks on a null device, a queue for each CPU
    net: bool = False
    power: bool = False  # x86: idle states, frequencies and a thermal zone, by an ACPI table
    big_little: bool = False  # arm64: two clusters of unlike capacity, by the device tree
    systemd: bool = False  # Debian on a disk of its own in place of the initramfs
    cgroup: int = 2
    processor: str = ""  # QEMU's name for it; empty: the usual one of the architecture
    isolated: str = ""
    nohz_full: str = ""
    capacities: tuple = ()

    @property
    def cpus(self):
        return self.sockets * self.clusters * self.cores * self.threads


BOARDS = {board.name: board for board in (
    Board("rt-1", "PREEMPT_RT, one CPU, deterministic: the golden bench",
          kernel="rt", mode=ICOUNT, cores=1),
    Board("stock-1", "Debian's usual kernel, one CPU, deterministic",
          kernel="stock", mode=ICOUNT, cores=1),
    Board("rt-1-threads", "one CPU whose time goes on while the whole board is stopped",
          kernel="rt", cores=1),
    Board("rt-4", "PREEMPT_RT, four cores, a disk with four managed queues, network",
          kernel="rt", image="full", memory_mb=1024, disks=1, net=True),
    Board("stock-4", "the usual kernel, two cores with two threads each",
          kernel="stock", cores=2, threads=2, image="full", memory_mb=1024, disks=1, net=True,
          processor=INTEL),
    Board("rt-4-isolated", "rt-4 with CPUs 2 and 3 isolated at boot",
          kernel="rt", image="full", memory_mb=1024, disks=1, net=True, boot=X86_ISOLATED,
          isolated="2-3", nohz_full="2-3"),
    Board("power-4", "idle states, frequencies, thermal zones",
          kernel="rt", power=True, processor=INTEL),
    # Debian's amd64 kernels need 80 MB to be unpacked at all (their load address, 16 MB, and
    # init_size, 64 MB): the usual one boots from 112 MB on. On arm32 `cma=0` gives 16 MB back.
    Board("tiny", "arm32 with 64 MB, PREEMPT_RT, nothing but busybox and punctual",
          kernel="rt-armhf", cores=1, memory_mb=64, image="tiny", boot="cma=0", capacities=(1024,)),
    Board("systemd", "Debian with systemd, udev and D-Bus on a disk, PREEMPT_RT",
          kernel="rt", memory_mb=1024, systemd=True),
    Board("cgroup-v1", "control groups of the first version",
          kernel="stock", cores=2, cgroup=1),
    Board("arm-4", "arm64, PREEMPT_RT, two clusters of two",
          kernel="rt-arm64", clusters=2, cores=2, capacities=(1024,) * 4),
    Board("arm-biglittle", "arm64 with little CPUs 0-1 and big CPUs 2-3, idle states, frequencies",
          kernel="rt-arm64", clusters=2, cores=2, big_little=True,
          capacities=(312, 312, 1024, 1024)),
    Board("arm32-4", "armhf, PREEMPT_RT",
          kernel="rt-armhf", image="tiny", capacities=(1024,) * 4),
    Board("rt612-1", "the 6.12 RT kernel, one CPU, deterministic",
          kernel="rt612", mode=ICOUNT, cores=1),
    Board("rt612-4", "the 6.12 RT kernel, four cores",
          kernel="rt612", disks=1, net=True, memory_mb=1024),
)}
