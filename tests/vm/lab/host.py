# SPDX-License-Identifier: GPL-2.0-or-later
"""What the machine itself must have: Debian packages with QEMU and the tools."""

import os
import re
import shutil
import subprocess
import sys

from lab import apt
from lab.apt import Unavailable

# package: a program that shows that it is there
ESSENTIAL = {
    "qemu-system-x86": "qemu-system-x86_64", "rt-tests": "cyclictest", "gcc": "gcc", "make": "make",
    "binutils": "readelf", "kmod": "depmod", "xz-utils": "xz", "zstd": "zstd", "apt": "apt-get",
    "dpkg": "dpkg-deb", "util-linux": "setpriv",
}
# Without these some boards or tests are skipped, and say so.
OPTIONAL = {
    "qemu-system-arm": "qemu-system-aarch64", "rtla": "rtla", "trace-cmd": "trace-cmd",
    "stress-ng": "stress-ng", "device-tree-compiler": "dtc", "acpica-tools": "iasl",
    "e2fsprogs": "mke2fs", "gcc-aarch64-linux-gnu": "aarch64-linux-gnu-gcc",
    "debootstrap": "debootstrap",
}
SBIN = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def program(name):
    """The path of a program, also where only root has it in PATH."""
    return shutil.which(name, path=SBIN)


def need(name):
    path = program(name)
    if not path:
        package = {**ESSENTIAL, **OPTIONAL}
        owner = next((p for p, n in package.items() if n == name), name)
        raise Unavailable(f"{name} is not installed (Debian: {owner})")
    return path


def install(say=print):
    """Installs what is missing where that is possible; Unavailable if something essential is."""
    missing = [package for package, name in {**ESSENTIAL, **OPTIONAL}.items() if not program(name)]
    if missing and program("apt-get"):
        say(f"installing {' '.join(missing)}")
        try:
            apt_install(missing, say)
        except Unavailable as reason:
            say(f"could not install: {reason}")
    absent = [package for package, name in ESSENTIAL.items() if not program(name)]
    if absent:
        raise Unavailable(f"not installed, and can't be: {' '.join(absent)}")


def apt_install(packages, say):
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"]
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = [*prefix, "apt-get", "install", "-y", "-q", "--no-install-recommends"]
    try:
        apt.call([*install, *packages], env=env)
    except Unavailable:
        apt.call([*prefix, "apt-get", "update", "-q"], env=env)
        # one that this release has not must not keep the others away
        for package in packages:
            try:
                apt.call([*install, package], env=env)
            except Unavailable as reason:
                say(f"could not install {package}: {reason}")


def has_kvm():
    """KVM by the processor's own means. /dev/kvm alone says nothing: others there hang silently."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as info:
            return bool(re.search(r"\b(vmx|svm)\b", info.read())) and os.access("/dev/kvm", os.W_OK)
    except OSError:
        return False


def memory_mb():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") >> 20


def output(command, **options):
    """Runs a build tool; its complaint is ours if it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", check=False, **options)
    if done.returncode:
        sys.stderr.write(done.stderr)
        raise RuntimeError(f"{command[0]}: status {done.returncode}")
    return done.stdout
