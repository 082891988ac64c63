# SPDX-License-Identifier: GPL-2.0-or-later
"""`punctual measure` where the board changes beside it: isolation, CPUs that go, clocks that jump,
a board that stands still, power that fails."""

import tempfile
from pathlib import Path

from lab import host
from lab.suite import case


def measured(document):
    return [cpu["cpu"] for cpu in document["cpus"]]


@case("rt-4-isolated", product=True)
def isolation(case_):
    """Isolated CPUs are measured when told; a run that left them out says so."""
    guest = case_.run_text("""
        . /lib.sh
        measure() { punctual measure --no-store --quiet --duration 2s "$@"; }
        for cpus in isolated housekeeping all 2; do
            measure --cpus $cpus --json >$cpus.json || exit 1
        done
        measure --json >default.json
        measure >default.txt
    """, name="isolation")
    for name, cpus in (("isolated", [2, 3]), ("housekeeping", [0, 1]), ("all", [0, 1, 2, 3]),
                       ("2", [2]), ("default", [0, 1])):
        document = guest.json(f"{name}.json")
        case_.equal(name, measured(document), cpus)
        case_.check(f"{name}-sampled", all(cpu["samples"] for cpu in document["cpus"]),
                    "no samples")
    said = " ".join(d["text"] for d in guest.json("default.json")["distortions"])
    case_.check("says-what-was-left-out", "2-3" in said, said)


@case("rt-4", "stock-4", product=True)
def cpu_goes_off_line(case_):
    """A measured CPU that is taken away ends, and is reported; the others go on."""
    guest = case_.run_text("""
        . /lib.sh
        punctual measure --no-store --quiet --cpus all --duration 6s --json >run.json 2>run.err &
        sleep 2
        echo 0 >/sys/devices/system/cpu/cpu3/online
        wait $!
        echo $? >run.status
        echo 1 >/sys/devices/system/cpu/cpu3/online
    """, name="off-line")
    document = guest.json("run.json")
    by_cpu = {cpu["cpu"]: cpu for cpu in document["cpus"]}
    gone = by_cpu.pop(3)
    case_.equal("status", guest.text("run.status").strip(), "0")
    # counted with what was missed: the host may keep any CPU of this board waiting
    rounds = {number: cpu["samples"] + cpu["missed"] for number, cpu in by_cpu.items()}
    case_.check("others-go-on", all(count > 5500 for count in rounds.values()), f"{rounds}")
    ended = gone["samples"] + gone["missed"]
    case_.check("it-ends", 0 < ended < 5000, f"{ended} samples")
    told = [d["text"] for d in document["distortions"]]
    case_.check("it-is-reported", any("3" in text and "line" in text for text in told), f"{told}")


@case("rt-1", product=True)
def clock_jump(case_):
    """CLOCK_REALTIME set forward and back a day does nothing to a measurement."""
    guest = case_.run_text("""
        . /lib.sh
        punctual measure --no-store --quiet --duration 5s --json >run.json &
        sleep 2
        date -s '2033-03-03 03:03:03' >/dev/null
        sleep 1
        date -s '2001-01-01 01:01:01' >/dev/null
        wait $!
    """, name="clock-jump")
    every = guest.json("run.json")["all"]
    # the phase jumps with each window, by less than a period
    case_.within("samples", every["samples"], 4990, 5000)
    case_.equal("missed", every["missed"], 0)
    case_.within("max-us", every["max_ns"] / 1000, 1, 400)


@case("rt-1-threads", product=True)
def board_stands_still(case_):
    """0.3 s in which a hypervisor or firmware has the whole board: one latency of that length by
    cyclictest and by punctual, which also counts the periods that it missed."""
    pause = {"stop": lambda run: run.pause(0.3)}
    guest = case_.run_text("""
        . /lib.sh
        cyclictest -q -m -p95 -t1 -i1000 -D4 --json=theirs.json >/dev/null &
        sleep 2
        host stop
        wait $!
        punctual measure --no-store --quiet --duration 4s --json >run.json &
        sleep 2
        host stop
        wait $!
    """, name="pause", actions=pause)
    case_.within("cyclictest-us", guest.json("theirs.json")["thread"]["0"]["max"], 250000, 2000000)
    document = guest.json("run.json")
    case_.within("max-us", document["all"]["max_ns"] / 1000, 250000, 2000000)
    case_.check("missed", document["all"]["missed"] >= 250, f"{document['all']['missed']}")
    told = [d["text"] for d in document["distortions"]]
    case_.check("missed-is-told", any("missed" in text for text in told), f"{told}")


STORE_LOSS_S = 5  # a batch of windows, and the moment that the host needs to cut


@case("stock-1", product=True)
def power_cut(case_):
    """Power fails while a session is written: after the next boot it opens, and lacks its last
    seconds at most."""
    with tempfile.TemporaryDirectory(prefix="punctual-vm-") as folder:
        disk = Path(folder) / "disk"
        with disk.open("wb") as image:
            image.truncate(64 << 20)
        host.output([host.need("mke2fs"), "-q", "-t", "ext4", "-E", "lazy_itable_init=0",
                     str(disk)])
        board = case_.variant(mode="threads")
        case_.run_text("""
            . /lib.sh
            mount /dev/vda /mnt || exit 1
            punctual measure --store /mnt/sessions.db --quiet --duration 10m >/dev/null &
            sleep 15
            host cut
            wait
        """, expect="cut", name="first-boot", board=board, disks=[disk],
                       actions={"cut": lambda run: run.cut()})
        guest = case_.run_text("""
            . /lib.sh
            mount /dev/vda /mnt || exit 1
            punctual history --store /mnt/sessions.db >history.txt
            punctual show --store /mnt/sessions.db --json >run.json
            echo $? >show.status
            punctual measure --store /mnt/sessions.db --quiet --duration 1s >/dev/null
            equal store-goes-on $? 0
        """, name="second-boot", board=board, disks=[disk])
    case_.equal("opens", guest.text("show.status").strip(), "0")
    document = guest.json("run.json")
    every = document["all"]
    kept = (every["samples"] + every["missed"]) / 1000
    case_.within("kept-seconds", kept, 15 - STORE_LOSS_S - 1, 60)
    case_.check("marked-open", "open" in guest.text("history.txt"), guest.text("history.txt"))


LOCKED_MB = 8  # a board of 64 MB has some 14 left for all applications


@case("tiny", product=True)
def fits_in_little_memory(case_):
    """On a board of 64 MB the product measures with its store in what memory is left."""
    guest = case_.run_text("""
        . /lib.sh
        grep -E '^Mem' /proc/meminfo >before.txt
        punctual measure --store /root/sessions.db --quiet --duration 10s --json >run.json &
        sleep 7
        grep -E '^(VmHWM|VmLck)' /proc/$!/status >status.txt
        grep -E '^Mem' /proc/meminfo >during.txt
        wait $!
        echo $? >run.status
        punctual show --store /root/sessions.db --json >show.json
        check nobody-was-killed sh -c '! dmesg | grep -qi "out of memory"'
    """, name="little-memory")
    case_.equal("status", guest.text("run.status").strip(), "0")
    case_.within("total-mb", kilobytes(guest, "before.txt")["MemTotal"] >> 10, 30, 64)
    own = kilobytes(guest, "status.txt")
    left = kilobytes(guest, "during.txt")["MemAvailable"]
    print(f"{case_.name}@{case_.board.name}: the product took {own['VmHWM']} kB, locked "
          f"{own['VmLck']} kB; left: {left} kB", flush=True)
    case_.within("resident-kb", own["VmHWM"], 1, LOCKED_MB << 10)
    case_.within("locked-kb", own["VmLck"], 1, LOCKED_MB << 10)
    run, shown = guest.json("run.json"), guest.json("show.json")
    case_.within("rounds", run["all"]["samples"] + run["all"]["missed"], 9900, 10001)
    case_.equal("the-store-has-it", (shown["id"], shown["all"]), (run["id"], run["all"]))


def kilobytes(guest, name):
    """The figures of a file in the form of /proc/meminfo."""
    lines = (line.split() for line in guest.text(name).splitlines())
    return {line[0].rstrip(":"): int(line[1]) for line in lines}
