# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's command line for a board, and the firmware tables that some boards add."""

import hashlib
import re
from pathlib import Path

from lab import host
from lab.apt import Unavailable

P_STATES = ((2400, 30000, 0x1800), (1600, 18000, 0x1000), (800, 9000, 0x0800))  # MHz, mW, control
QEMU = {"amd64": "qemu-system-x86_64", "arm64": "qemu-system-aarch64", "armhf": "qemu-system-arm"}
PROCESSOR = {"amd64": "max", "arm64": "cortex-a72", "armhf": "cortex-a15"}
CONSOLE = {"amd64": "ttyS0", "arm64": "ttyAMA0", "armhf": "ttyAMA0"}


def accelerator(board, arch):
    if board.mode == "threads":
        if arch == "amd64" and host.has_kvm():
            return ["-accel", "kvm", "-cpu", "host"]
        return ["-accel", "tcg,thread=multi"]
    # An instruction takes 8 ns. With 1 ns latencies are nearer to those of real boards, but a
    # second of the board's work takes eight times as long.
    return ["-accel", "tcg,thread=single", "-icount", "shift=3,sleep=off,align=off",
            "-seed", "1", "-rtc", "base=2020-01-01T00:00:00,clock=vm"]


def topology(board, arch):
    if arch == "amd64":
        return f"{board.cpus},sockets={board.sockets},cores={board.clusters * board.cores}," \
               f"threads={board.threads}"
    if arch == "armhf" or board.clusters == 1:
        return str(board.cpus)
    return f"{board.cpus},sockets={board.sockets},clusters={board.clusters}," \
           f"cores={board.cores},threads={board.threads}"


def core(board, arch):
    """Machine, processor, CPUs and memory: what the device tree depends on."""
    machine = "q35,smm=off" if arch == "amd64" else "virt"
    command = [host.need(QEMU[arch]), "-nodefaults", "-display", "none", "-no-reboot",
               "-m", str(board.memory_mb), "-smp", topology(board, arch)]
    accel = accelerator(board, arch)
    if "-cpu" not in accel:
        accel = ["-cpu", board.processor or PROCESSOR[arch], *accel]
    return [*command, *accel], machine


def boot_line(board, arch):
    words = [f"console={CONSOLE[arch]}", "loglevel=6", "panic=-1", board.boot]
    if board.mode != "threads":
        # the second UART's threaded handler finds nothing left to do now and then; on PREEMPT_RT
        # the kernel would take the interrupt for a broken one and turn it off
        words.append("noirqdebug")
    return " ".join(filter(None, words))


def devices(board, arch, disks=(), root=None):
    """Virtio devices; on a deterministic board without interrupts of their own until used."""
    words = []
    for number in range(board.disks):
        words += ["-drive", f"if=none,id=null{number},file.driver=null-co,file.size=1G,format=raw",
                  "-device", f"virtio-blk-pci,drive=null{number},num-queues={board.cpus}"]
    if root:
        words += ["-drive", f"if=none,id=root,file={root},format=raw,cache=unsafe",
                  "-device", "virtio-blk-pci,drive=root,serial=root"]
    for number, path in enumerate(disks):
        words += ["-drive", f"if=none,id=disk{number},file={path},format=raw,cache=unsafe",
                  "-device", f"virtio-blk-pci,drive=disk{number},serial=keep{number}"]
    if board.net:
        words += ["-netdev", "user,id=net0,restrict=on", "-device", "virtio-net-pci,netdev=net0"]
    if arch != "amd64":
        words = [word.replace("-pci,", "-device,") if arch == "armhf" else word for word in words]
    return words


def command_line(cache, board, unpacked, initrd, disks=(), root=None):
    """All but the console and the channel."""
    arch = unpacked.kernel.arch
    words, machine = core(board, arch)
    words += ["-machine", machine, "-kernel", str(unpacked.image), "-initrd", str(initrd),
              "-append", boot_line(board, arch), *devices(board, arch, disks, root)]
    if board.power:
        words += ["-acpitable", f"file={power_table(cache, board.cpus)}"]
    if board.big_little:
        words += ["-dtb", str(big_little_tree(cache, board, arch))]
    return words


# --- x86: idle states, frequencies and temperature by an ACPI table ---

def power_source(cpus):
    """ASL for CPUS processors: C1 to C3, three frequencies, one thermal zone at 67 °C. The I/O
    ports have nothing behind them: states are declared, their latency is not simulated."""
    scopes = []
    for cpu in range(cpus):
        name = f"\\_SB.CPUS.C{cpu:03X}"
        control, status = 0x5000 + 4 * cpu, 0x5002 + 4 * cpu
        states = ", ".join(f"Package() {{ {mhz}, {mw}, 10, 10, {value}, {value} }}"
                           for mhz, mw, value in P_STATES)
        scopes.append(f"""
External ({name}, DeviceObj)
Scope ({name}) {{
  Name (_CST, Package() {{ 3,
    Package() {{ ResourceTemplate() {{ Register(FFixedHW, 1, 2, 0x0, ) }}, 1, 1, 1000 }},
    Package() {{ ResourceTemplate() {{ Register(SystemIO, 8, 0, 0x5100, ) }}, 2, 80, 500 }},
    Package() {{ ResourceTemplate() {{ Register(SystemIO, 8, 0, 0x5101, ) }}, 3, 600, 200 }} }})
  Name (_PCT, Package() {{
    ResourceTemplate() {{ Register(SystemIO, 16, 0, {control:#x}, ) }},
    ResourceTemplate() {{ Register(SystemIO, 16, 0, {status:#x}, ) }} }})
  Name (_PSS, Package() {{ {states} }})
  Method (_PPC) {{ Return (0) }}
}}""")
    return f"""DefinitionBlock ("", "SSDT", 2, "LAB", "LABPM", 1) {{{"".join(scopes)}
Scope (\\_SB) {{
  ThermalZone (TZ00) {{
    Method (_TMP) {{ Return (3402) }}
    Method (_CRT) {{ Return (3832) }}
    Method (_PSV) {{ Return (3632) }}
    Name (_TC1, 4)
    Name (_TC2, 3)
    Name (_TSP, 20)
    Name (_TZP, 10)
    Name (_PSL, Package() {{ \\_SB.CPUS.C000 }})
  }}
}}
}}
"""


def power_table(cache, cpus):
    text = power_source(cpus)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    table = cache / "tables" / f"power-{digest}.aml"
    if not table.exists():
        table.parent.mkdir(parents=True, exist_ok=True)
        source = table.with_suffix(".asl")
        source.write_text(text)
        host.output([host.need("iasl"), "-p", str(table.with_suffix("")), str(source)])
    return table


# --- arm64: big and little CPUs by the device tree ---

BIG, LITTLE = "big", "little"
CLUSTER = {
    LITTLE: {"capacity": 446, "idle": "&lret &lsleep", "opp": "&opp0", "clock": "&clock0",
             "power": 140, "compatible": "arm,cortex-a53"},
    BIG: {"capacity": 1024, "idle": "&bsleep", "opp": "&opp1", "clock": "&clock1",
          "power": 530, "compatible": "arm,cortex-a72"},
}
IDLE_STATES = """
		idle-states {
			entry-method = "psci";
			lret: retention { compatible = "arm,idle-state"; idle-state-name = "cpu-retention";
				arm,psci-suspend-param = <0x0>; entry-latency-us = <20>;
				exit-latency-us = <40>; min-residency-us = <80>; };
			lsleep: sleep { compatible = "arm,idle-state"; idle-state-name = "cpu-sleep";
				arm,psci-suspend-param = <0x1>; entry-latency-us = <300>;
				exit-latency-us = <1200>; min-residency-us = <2000>; };
			bsleep: big-sleep { compatible = "arm,idle-state"; idle-state-name = "big-sleep";
				arm,psci-suspend-param = <0x0>; entry-latency-us = <400>;
				exit-latency-us = <1100>; min-residency-us = <2500>; };
		};
"""
FREQUENCIES = """
	clock0: cpu-clock-0 { compatible = "fixed-clock"; #clock-cells = <0>;
		clock-frequency = <1400000000>; };
	clock1: cpu-clock-1 { compatible = "fixed-clock"; #clock-cells = <0>;
		clock-frequency = <2000000000>; };
	opp0: opp-table-0 { compatible = "operating-points-v2"; opp-shared;
		opp-700000000 { opp-hz = /bits/ 64 <700000000>; opp-microvolt = <800000>; };
		opp-1400000000 { opp-hz = /bits/ 64 <1400000000>; opp-microvolt = <1000000>; }; };
	opp1: opp-table-1 { compatible = "operating-points-v2"; opp-shared;
		opp-1000000000 { opp-hz = /bits/ 64 <1000000000>; opp-microvolt = <850000>; };
		opp-2000000000 { opp-hz = /bits/ 64 <2000000000>; opp-microvolt = <1150000>; }; };
"""


def big_little_source(tree):
    """QEMU's own device tree (its source) with CPUs 0-1 made little and 2-3 big."""
    for cpu in range(4):
        kind = CLUSTER[BIG if cpu >= 2 else LITTLE]
        added = f"""
			capacity-dmips-mhz = <{kind['capacity']}>;
			cpu-idle-states = <{kind['idle'].replace(' ', '>, <')}>;
			operating-points-v2 = <{kind['opp']}>;
			clocks = <{kind['clock']}>;
			dynamic-power-coefficient = <{kind['power']}>;
			#cooling-cells = <2>;"""
        node = re.compile(r"(cpu@%d \{)(.*?compatible = )\"[^\"]*\"" % cpu, re.S)
        tree, count = node.subn(lambda m, k=kind, a=added: f"{m[1]}{a}{m[2]}\"{k['compatible']}\"",
                                tree, count=1)
        if not count:
            raise Unavailable("QEMU's device tree has no node for each CPU")
    first = re.search(r"^\t\tcpu@0 \{", tree, re.M).start()
    tree = tree[:first] + IDLE_STATES.lstrip("\n") + tree[first:]
    end = tree.rindex("};")
    return tree[:end] + FREQUENCIES + tree[end:]


def big_little_tree(cache, board, arch):
    words, machine = core(board, arch)
    digest = hashlib.sha256((repr(words) + Path(__file__).read_text()).encode()).hexdigest()[:12]
    blob = cache / "tables" / f"{board.name}-{digest}.dtb"
    if not blob.exists():
        blob.parent.mkdir(parents=True, exist_ok=True)
        plain, source = blob.with_suffix(".plain"), blob.with_suffix(".dts")
        host.output([*words, "-machine", f"{machine},dumpdtb={plain}"])
        tree = host.output([host.need("dtc"), "-q", "-I", "dtb", "-O", "dts", str(plain)])
        source.write_text(big_little_source(tree))
        host.output([host.need("dtc"), "-q", "-I", "dts", "-O", "dtb", "-o", str(blob),
                     str(source)])
    return blob
