# SPDX-License-Identifier: GPL-2.0-or-later
"""A Debian root with systemd, as an ext4 file system in a file, in place of the initramfs.

debootstrap makes it, from the mirror that apt itself uses, once for each release of the machine.
Each run gets a copy, or keeps one over several boots (Lab.disk)."""

import hashlib
import os
import shutil
from pathlib import Path

from lab import apt, host
from lab.apt import Unavailable

VM = Path(__file__).resolve().parent.parent
UNITS = (VM / "guest/lab.service", VM / "guest/lab-shell.service")
PACKAGES = ("systemd", "systemd-sysv", "udev", "dbus", "libnuma1")
SIZE_MB = 1024  # of the file system; what nobody writes takes no room in its file
# Nothing on a board reads these, and a smaller image is copied sooner.
LEAN = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "var/cache/apt",
        "var/lib/apt/lists")
# What would only take a slow board's time; timers would do so in the middle of a test.
MASKED = ("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer",
          "e2scrub_reap.service", "fstrim.timer", "getty@tty1.service",
          "serial-getty@ttyS0.service", "systemd-tmpfiles-clean.timer",
          "systemd-networkd-wait-online.service")
FILES = {
    "etc/hostname": "board\n",
    "etc/hosts": "127.0.0.1 localhost board\n",
    "etc/fstab": "",  # the initramfs has mounted the root
    "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
    "etc/systemd/journald.conf.d/lab.conf": "[Journal]\nStorage=volatile\n",
}


def root_image(cache):
    """The path of the image; Unavailable with what kept debootstrap from making it."""
    codename, mirror = apt.mirror()
    content = (codename, Path(__file__).read_text(), *(unit.read_text() for unit in UNITS))
    digest = hashlib.sha256(repr(content).encode()).hexdigest()[:12]
    path = cache / "roots" / f"{codename}-{digest}.ext4"
    if path.exists():
        return path
    command = [host.need("debootstrap"), "--variant=minbase", f"--include={','.join(PACKAGES)}"]
    if os.geteuid() != 0:
        raise Unavailable("a Debian root can be made by root only")
    debs = cache / "roots/debs"
    debs.mkdir(parents=True, exist_ok=True)
    tree = path.with_suffix(".tree")
    remove(tree)
    try:
        apt.call([*command, f"--cache-dir={debs}", codename, str(tree), mirror],
                 env={**os.environ, "PATH": host.SBIN})
        settle(tree)
        pack(tree, path)
    finally:
        remove(tree)
    return path


def settle(tree):
    """Makes TREE a board's root: what tests need is there, what costs time is not."""
    for name in LEAN:
        shutil.rmtree(tree / name, ignore_errors=True)
    for name, text in FILES.items():
        place = tree / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    units = tree / "etc/systemd/system"
    wanted = units / "multi-user.target.wants"
    wanted.mkdir(exist_ok=True)
    for unit in UNITS:
        shutil.copy(unit, units)
        (wanted / unit.name).symlink_to(f"../{unit.name}")
    for name in MASKED:
        link = units / name
        link.unlink(missing_ok=True)
        link.symlink_to("/dev/null")
    default = units / "default.target"
    default.unlink(missing_ok=True)
    default.symlink_to("/lib/systemd/system/multi-user.target")


def pack(tree, path):
    """TREE as a file system in the file PATH."""
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    host.output([host.need("mke2fs"), "-q", "-t", "ext4", "-L", "board", "-E", "lazy_itable_init=0",
                 "-d", str(tree), str(partial), f"{SIZE_MB}M"])
    partial.rename(path)


def remove(tree):
    """debootstrap leaves its mounts behind where it is stopped."""
    with open("/proc/mounts", encoding="utf-8", errors="replace") as mounts:
        places = [line.split()[1] for line in mounts]
    for place in sorted((p for p in places if p.startswith(f"{tree}/")), reverse=True):
        host.output([host.need("umount"), place])
    shutil.rmtree(tree, ignore_errors=True)


def copy(image, place):
    """A copy of IMAGE that a board may write to; holes stay holes."""
    host.output(["cp", "--sparse=always", "--reflink=auto", str(image), str(place)])
    return place
