# SPDX-License-Identifier: GPL-2.0-or-later
"""`punctual topology` on every board equals what the board was declared to be."""

from boards import BOARDS
from lab.machine import P_STATES
from lab.suite import case


def cpu_list(text):
    """A kernel's list ("0-1,3") as numbers; None and "" are none."""
    found = []
    for part in filter(None, (text or "").split(",")):
        low, _, high = part.partition("-")
        found += range(int(low), int(high or low) + 1)
    return found


# the one with systemd is another's hardware, and slow to boot
@case(*(name for name, board in BOARDS.items() if not board.systemd), product=True, limit=60)
def topology(case_):
    board = case_.board
    told = case_.run("topology").json("topology.json")
    cpus = told["cpus"]
    every = list(range(board.cpus))
    case_.equal("schema", told["schema"], "punctual/topology/1")
    case_.equal("cpus", [cpu["cpu"] for cpu in cpus if cpu["online"]], every)
    case_.equal("isolated", [c["cpu"] for c in cpus if c["isolated"]], cpu_list(board.isolated))
    case_.equal("nohz-full", [c["cpu"] for c in cpus if c["nohz_full"]], cpu_list(board.nohz_full))
    case_.equal("packages", len({cpu["package"] for cpu in cpus}), board.sockets)
    case_.equal("cores", len({(cpu["package"], cpu["cluster"], cpu["core"]) for cpu in cpus}),
                board.cpus // board.threads)
    case_.equal("siblings", [len(cpu_list(cpu["smt_siblings"])) for cpu in cpus],
                [board.threads] * board.cpus)
    if board.clusters > 1:
        case_.equal("clusters", len({cpu["cluster"] for cpu in cpus}), board.clusters)
    if board.capacities:
        case_.equal("capacities", [cpu["capacity"] for cpu in cpus], list(board.capacities))
    if board.power:
        check_power(case_, told)
    if board.big_little:
        check_big_little(case_, told)


def check_power(case_, told):
    states = [(state["exit_latency_ns"] // 1000) for state in told["idle_states"]]
    case_.equal("idle-latencies", states, [0, 1, 80, 600])
    case_.equal("max-frequencies", {cpu["max_freq_khz"] for cpu in told["cpus"]},
                {1000 * P_STATES[0][0]})


def check_big_little(case_, told):
    found = {}
    for state in told["idle_states"]:
        for cpu in cpu_list(state["cpus"]):
            found.setdefault(cpu, []).append(state["exit_latency_ns"] // 1000)
    case_.equal("idle-latencies-little", sorted(found[0]), [1, 60, 1500])
    case_.equal("idle-latencies-big", sorted(found[3]), [1, 1500])
    case_.equal("max-frequencies", [cpu["max_freq_khz"] for cpu in told["cpus"]],
                [1400000, 1400000, 2000000, 2000000])
    case_.equal("frequency-domains", sorted(domain["cpus"] for domain in told["freq_domains"]),
                ["0-1", "2-3"])
