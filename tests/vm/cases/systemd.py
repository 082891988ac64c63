# SPDX-License-Identifier: GPL-2.0-or-later
"""The board with systemd: what its units measured, and what outlives a boot."""

import tempfile
from pathlib import Path

from lab.suite import case

UNIT = """
[Unit]
Description=Counts boots
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'echo $(cat /proc/sys/kernel/random/boot_id) >>/var/lib/boots'
[Install]
WantedBy=multi-user.target
"""


@case("systemd", limit=60)
def reboot_keeps_disk(case_):
    """A unit that the first boot installs has run in the second, from the same disk."""
    with tempfile.TemporaryDirectory(prefix="punctual-vm-") as folder:
        root = case_.lab.disk(case_.board, Path(folder))
        first = case_.run_text(f"""
            . /lib.sh
            cat >/etc/systemd/system/boots.service <<'END'{UNIT}END
            systemctl enable --quiet boots.service || exit 1
            check not-run-yet test ! -e /var/lib/boots
            cat /proc/sys/kernel/random/boot_id >boot
        """, name="first-boot", root=root)
        second = case_.run_text("""
            . /lib.sh
            told=$(systemctl show -P Result -P ExecMainStatus boots.service | tr '\\n' ' ')
            equal state "$told" "success 0 "
            cat /proc/sys/kernel/random/boot_id >boot
            cp /var/lib/boots boots
        """, name="second-boot", root=root)
    case_.equal("ran-once-in-the-second", second.text("boots"), second.text("boot"))
    case_.check("boots-differ", first.text("boot") != second.text("boot"), second.text("boot"))


@case("systemd", product=True)
def measures_from_units(case_):
    """The product's figures from units: as root, beside a CPUAffinity, and by limits alone."""
    guest = case_.run("systemd")
    for unit in ("root", "pinned-measure", "user"):
        document = guest.json(f"{unit}.json")
        case_.equal(f"{unit}-cpus", [cpu["cpu"] for cpu in document["cpus"]], [1])
        every = document["all"]
        # counted with what was missed: the host may keep the board waiting
        case_.within(f"{unit}-rounds", every["samples"] + every["missed"], 900, 1001)
