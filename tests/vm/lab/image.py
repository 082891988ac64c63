# SPDX-License-Identifier: GPL-2.0-or-later
"""Initial file systems. A board's is made of three archives, one after the other:

base      busybox, tools, our helpers, kernel modules; one for each kernel and kind, cached
product   the static punctual, in a slot of fixed size
test      the script of one test and the board's settings, in slots of fixed size too

The slots keep a new product or a longer script from moving everything else in memory and in time,
on boards where time is instructions.
"""

import hashlib
import os
import re
from pathlib import Path

from lab import apt, host, kernels
from lab.apt import Unavailable
from lab.cpio import Cpio

VM = Path(__file__).resolve().parent.parent
SOURCE = VM.parent.parent
PRODUCT_SLOT = 8 << 20
SCRIPT_SLOT = 32 << 10
LIBRARY_SLOT = 4 << 10
SETTINGS_SLOT = 2 << 10

KINDS = {
    "tiny": (),
    "lean": ("cyclictest", "chrt", "taskset"),
    "full": ("cyclictest", "chrt", "taskset", "hackbench", "rtla", "stress-ng", "trace-cmd"),
}
MODULES = ("virtio_pci", "virtio_mmio", "virtio_net", "virtio_blk", "virtio_console",
           "crc32c_generic", "ext4", "acpi_cpufreq", "cpufreq_dt", "null_blk")
SCRIPTS = ("init", "session.sh", "handover.sh")
# Tools that are not loaded at boot, for tests to load.
LATER = {"null_blk"}
# Packages of another architecture, whose programs this machine can't ask for their libraries.
FOREIGN = {
    "cyclictest": ("rt-tests", "libc6", "libnuma1", "libgcc-s1"),
    "chrt": ("util-linux", "libc6"),
    "taskset": ("util-linux", "libc6"),
    "hackbench": ("rt-tests",),
    "rtla": ("rtla", "libtraceevent1", "libtracefs1"),
}
TRIPLET = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu",
           "armhf": "arm-linux-gnueabihf"}
PRODUCT = {"amd64": "build-static", "arm64": "build-arm64", "armhf": "build-armhf"}


# --- programs and their libraries ---

class Library:
    """Where programs and shared libraries of one architecture are found."""

    def __init__(self, roots, triplet):
        self.roots = roots
        self.folders = [f"{base}lib/{triplet}" for base in ("", "usr/")] + \
            ["lib", "usr/lib", "lib64", f"usr/lib/{triplet}/pulseaudio"]
        self.triplet = triplet

    def program(self, name):
        for root in self.roots:
            for folder in ("bin", "usr/bin", "usr/sbin", "sbin"):
                path = root / folder / name
                if path.is_file():
                    return path
        raise Unavailable(f"{name} is not to be had for {self.triplet}")

    def library(self, name):
        for root in self.roots:
            for folder in self.folders:
                path = root / folder / name
                if path.exists():
                    return path
        raise Unavailable(f"library {name} is not to be had for {self.triplet}")

    def add(self, archive, name):
        """Adds program NAME with all that it needs."""
        path = self.program(name)
        archive.file(f"bin/{name}", path.read_bytes(), executable=True)
        waiting, interpreter = needs(path)
        if interpreter:
            loader = self.library(Path(interpreter).name)
            archive.file(interpreter, loader.read_bytes(), executable=True)
        while waiting:
            wanted = waiting.pop()
            place = f"lib/{self.triplet}/{wanted}"
            if place in archive:
                continue
            library = self.library(wanted)
            archive.file(place, library.read_bytes())
            waiting += needs(library)[0]


def needs(path):
    """The libraries that an ELF file names, and the loader it asks for."""
    text = apt.call(["readelf", "-dlW", str(path)])
    loader = re.search(r"program interpreter: (\S+)\]", text)
    return re.findall(r"\(NEEDED\).*\[(.+)\]", text), loader and loader.group(1)


# --- the base ---

def busybox(cache, arch):
    folder, = apt.Archive(cache, arch).fetch("busybox-static")
    for place in ("bin/busybox", "usr/bin/busybox"):
        if (folder / place).is_file():
            return folder / place
    raise Unavailable("busybox-static holds no busybox")


def library_for(cache, arch, tools):
    if arch == apt.native_arch():
        return Library([Path("/")], TRIPLET[arch])
    wanted = sorted({package for tool in tools for package in FOREIGN.get(tool, ())})
    return Library(apt.Archive(cache, arch).fetch(*wanted), TRIPLET[arch])


def helper(cache, arch, name):
    """One of our own static programs, compiled if its source changed."""
    cross = "" if arch == apt.native_arch() else kernels.CROSS[arch]
    source = VM / f"src/{name}.c"
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    built = cache / "helpers" / f"{name}-{arch}-{digest}"
    if not built.exists():
        host.need(cross + "gcc")
        built.parent.mkdir(parents=True, exist_ok=True)
        partial = built.with_name(built.name + ".partial")
        host.output([cross + "gcc", "-std=gnu17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra",
                     "-static", "-s", "-o", str(partial), str(source)])
        partial.rename(built)
    return built


def helpers(cache, arch):
    """Our programs; none where there is no compiler for the architecture."""
    try:
        return [helper(cache, arch, source.stem) for source in sorted((VM / "src").glob("*.c"))]
    except Unavailable:
        return []


def own_modules(unpacked):
    try:
        return unpacked.build_modules()
    except Unavailable:
        return []


def base(cache, unpacked, kind):
    """The path of the base archive."""
    arch = unpacked.kernel.arch
    native = arch == apt.native_arch()
    tools = [tool for tool in KINDS[kind] if native or tool in FOREIGN]
    if arch == "armhf":
        tools = []
    library = library_for(cache, arch, tools)
    programs = [library.program(tool) for tool in tools]
    ours = helpers(cache, arch)
    extra = own_modules(unpacked)
    inputs = [busybox(cache, arch), *programs, *ours, *extra, *(VM / f"guest/{n}" for n in SCRIPTS),
              Path(__file__)]
    stamp = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in inputs]
    digest = hashlib.sha256(repr((stamp, MODULES, kind)).encode()).hexdigest()[:12]
    path = cache / "images" / f"{kind}-{unpacked.release}-{digest}.cpio"
    if not path.exists():
        archive = skeleton(busybox(cache, arch))
        for tool in tools:
            library.add(archive, tool)
        for program in ours:
            archive.file(f"bin/{program.name.split('-')[0]}", program.read_bytes(), executable=True)
        add_modules(archive, unpacked, extra)
        write(path, bytes(archive))
    return path


def skeleton(busybox_path):
    archive = Cpio()
    for folder in ("proc", "sys", "dev", "tmp", "root", "run", "mnt", "out", "var/tmp", "var/lib",
                   "etc", "sbin", "usr/bin", "usr/sbin"):
        archive.folder(folder)
    archive.device("dev/console", 5, 1)
    archive.device("dev/null", 1, 3)
    archive.file("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
    archive.file("bin/busybox", busybox_path.read_bytes(), executable=True)
    archive.link("bin/sh", "busybox")
    for name in SCRIPTS:
        archive.file(name, (VM / f"guest/{name}").read_bytes(), executable=True)
    return archive


def add_modules(archive, unpacked, extra):
    order = []
    for name in MODULES:
        for path in unpacked.load_order([name]):
            short = kernels.module_name(path)
            if f"modules/{short}.ko" in archive:
                continue
            archive.file(f"modules/{short}.ko", kernels.read_module(path))
            if name not in LATER:
                order.append(short)
    for path in extra:
        archive.file(f"modules/{path.name}", path.read_bytes())
    archive.file("modules/order", "".join(f"{name}\n" for name in order).encode())
    config = next((unpacked.folder / "boot").glob("config-*"))
    archive.file(f"boot/{config.name}", config.read_bytes())


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    partial.write_bytes(data)
    partial.rename(path)


# --- the product and the test ---

def product_path(arch):
    """The static punctual for ARCH, or None where it has not been built."""
    given = os.environ.get(f"PUNCTUAL_STATIC_{arch.upper()}")
    path = Path(given) if given else SOURCE / PRODUCT[arch] / "punctual"
    return path if path.is_file() else None


def product(arch, slot=PRODUCT_SLOT):
    """An archive with the product, or nothing. An ELF file bears zeros behind it."""
    path = product_path(arch)
    archive = Cpio()
    data = path.read_bytes() if path else b""
    if slot and len(data) > slot:
        raise RuntimeError(f"{path} is larger than {slot} bytes: raise PRODUCT_SLOT")
    archive.file("bin/punctual" if path else "bin/.no-product",
                 data + bytes(max(0, slot - len(data))), executable=True)
    return bytes(archive)


def test(script, settings):
    """An archive with SCRIPT (text, or None for a shell) and SETTINGS (a dict of strings)."""
    archive = Cpio()
    if script is not None:
        archive.file("test.sh", padded(script.encode(), SCRIPT_SLOT), executable=True)
    archive.file("lib.sh", padded((VM / "guest/lib.sh").read_bytes(), LIBRARY_SLOT))
    lines = "".join(f"{key}='{value}'\n" for key, value in sorted(settings.items()))
    archive.file("settings", padded(lines.encode(), SETTINGS_SLOT))
    return bytes(archive)


def padded(text, slot):
    """A shell script in a slot: what is left of it is comment."""
    text = text.rstrip(b"\n") + b"\n"
    if len(text) > slot:
        raise RuntimeError(f"a script for the guest is longer than {slot} bytes")
    filler = (b"#" * 79 + b"\n") * (slot // 80 + 1)
    return (text + filler)[:slot - 1] + b"\n"
