# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's kernels, unpacked: what QEMU boots, modules, and modules built against the headers."""

import functools
import hashlib
import lzma
import os
import re
import shutil
import subprocess
import zlib
from dataclasses import dataclass
from pathlib import Path

from lab import apt
from lab.apt import Unavailable

VM = Path(__file__).resolve().parent.parent
CROSS = {"amd64": "x86_64-linux-gnu-", "arm64": "aarch64-linux-gnu-",
         "armhf": "arm-linux-gnueabihf-"}


@dataclass(frozen=True)
class Kernel:
    """A kernel by its Debian packages. suite: "backports" for that of this machine's release."""
    package: str
    arch: str = "amd64"
    headers: str = ""  # empty: no modules of our own for it
    suite: str = ""


KERNELS = {
    "rt": Kernel("linux-image-rt-amd64", headers="linux-headers-rt-amd64"),
    "stock": Kernel("linux-image-amd64", headers="linux-headers-amd64"),
    "rt612": Kernel("linux-image-rt-amd64", headers="linux-headers-rt-amd64", suite="backports"),
    "rt-arm64": Kernel("linux-image-rt-arm64", arch="arm64", headers="linux-headers-rt-arm64"),
    "rt-armhf": Kernel("linux-image-rt-armmp", arch="armhf"),
}


class Unpacked:
    """A kernel that has been fetched. release is what uname -r says, version the package's."""

    def __init__(self, cache, kernel):
        self.kernel = kernel
        self.cache = cache
        suite = f"{apt.codename()}-{kernel.suite}" if kernel.suite else ""
        self.archive = apt.Archive(cache, kernel.arch, suite)
        real = self.archive.depends(kernel.package)
        images = [name for name in real if name.startswith("linux-image-")]
        if not images:
            raise Unavailable(f"{kernel.package} ({kernel.arch}) leads to no kernel")
        self.version = self.archive.version(images[0])
        self.folder, = self.archive.fetch(images[0])
        self.modules = self._modules()
        self.release = self.modules.name

    def _modules(self):
        for base in ("lib/modules", "usr/lib/modules"):
            for folder in (self.folder / base).glob("*"):
                return folder
        raise Unavailable(f"{self.folder.name} holds no modules")

    @functools.cached_property
    def image(self):
        """What QEMU boots. On amd64 the kernel proper, by PVH: unpacking it there is slow."""
        compressed = next((self.folder / "boot").glob("vmlinuz-*"))
        if self.kernel.arch != "amd64":
            return compressed
        plain = self.folder / "vmlinux"
        if not plain.exists():
            partial = plain.with_suffix(".partial")
            partial.write_bytes(extract(compressed.read_bytes()))
            partial.rename(plain)
        return plain

    @functools.cached_property
    def _dependencies(self):
        """Module name -> (file, files it needs), from depmod."""
        table = self.modules / "modules.dep"
        if not table.exists():
            base = self.modules.parent.parent.parent
            apt.call(["depmod", "-b", str(base), self.release],
                     env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
        found = {}
        for line in table.read_text().splitlines():
            file, needs = line.split(":")
            found[module_name(file)] = (file, needs.split())
        return found

    def load_order(self, names):
        """Files to insert for NAMES and what they need, in order; what is built in has no file."""
        order = []
        for name in names:
            if name not in self._dependencies:
                continue
            file, needs = self._dependencies[name]
            for each in (*reversed(needs), file):
                if each not in order:
                    order.append(each)
        return [self.modules / each for each in order]

    # --- modules of our own ---

    def _headers(self):
        """One tree of headers and build tools, with the paths in it made its own."""
        kernel = self.kernel
        meta, = [n for n in self.archive.depends(kernel.headers) if n.startswith("linux-headers-")]
        needs = [n for n in self.archive.depends(meta) if n.startswith("linux-headers-")]
        native = self.archive if kernel.arch == apt.native_arch() \
            else apt.Archive(self.cache, apt.native_arch(), self.archive.suite)
        kbuild = re.sub(r"linux-headers-(\d+\.\d+).*", r"linux-kbuild-\1", meta)
        if kbuild not in self.archive.depends(meta):
            kbuild = next(n for n in self.archive.depends(meta) if n.startswith("linux-kbuild-"))
        parts = [*self.archive.fetch(meta, *needs), *native.fetch(kbuild)]
        tree = self.cache / "headers" / f"{meta}_{self.archive.version(meta)}"
        if not tree.exists():
            partial = tree.with_name(tree.name + ".partial")
            shutil.rmtree(partial, ignore_errors=True)
            for part in parts:
                shutil.copytree(part / "usr", partial / "usr", symlinks=True, dirs_exist_ok=True)
            make_own(partial, tree)
            partial.rename(tree)
        return tree / "usr/src" / meta

    def build_modules(self):
        """Our modules' files for this kernel, built if they were not."""
        if not self.kernel.headers:
            raise Unavailable(f"no headers are declared for {self.kernel.package}")
        sources = sorted((VM / "module").iterdir())
        digest = hashlib.sha256(b"".join(f.read_bytes() for f in sources)).hexdigest()[:12]
        name = f"{self.release}_{self.version}_{digest}".replace(":", "_")
        folder = self.cache / "modules" / name
        names = [file.with_suffix(".ko").name for file in sources if file.suffix == ".c"]
        if not folder.exists():
            cross = "" if self.kernel.arch == apt.native_arch() else CROSS[self.kernel.arch]
            if not shutil.which(cross + "gcc"):
                raise Unavailable(f"{cross}gcc is not installed")
            headers = self._headers()
            partial = folder.with_name(folder.name + ".partial")
            shutil.rmtree(partial, ignore_errors=True)
            shutil.copytree(VM / "module", partial)
            arch = {"amd64": "x86", "armhf": "arm"}.get(self.kernel.arch, self.kernel.arch)
            apt.call(["make", "-C", str(headers), f"M={partial}", f"ARCH={arch}",
                      f"CROSS_COMPILE={cross}",
                      "CONFIG_DEBUG_INFO_BTF_MODULES=",  # would need pahole
                      "modules"])
            partial.rename(folder)
        return [folder / name for name in names]


def make_own(tree, final):
    """Headers name their other parts by absolute path: point these into the tree at FINAL."""
    for makefile in tree.glob("usr/src/*/Makefile"):
        text = makefile.read_text()
        makefile.write_text(re.sub(r"(?<![\w.])/usr/src/", f"{final}/usr/src/", text))
    for link in tree.glob("usr/src/*/*"):
        if link.is_symlink() and os.readlink(link).startswith("/usr/"):
            target = f"{final}{os.readlink(link)}"
            link.unlink()
            link.symlink_to(target)


def module_name(file):
    return Path(file).name.split(".ko")[0].replace("-", "_")


def read_module(path):
    """A module's bytes; newer Debian ships them compressed."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.name.endswith(".xz") else data


def extract(image):
    """The ELF file within a bzImage."""
    unpackers = (
        (b"\xfd7zXZ\0", lambda data: lzma.LZMADecompressor().decompress(data)),
        (b"\x1f\x8b\x08", lambda data: zlib.decompressobj(31).decompress(data)),
        (b"\x28\xb5\x2f\xfd", unpack_zstd),
    )
    for magic, unpack in unpackers:
        start = image.find(magic)
        while start >= 0:
            try:
                plain = unpack(image[start:])
            except (lzma.LZMAError, zlib.error, OSError):
                plain = b""
            if plain[:4] == b"\x7fELF":
                return plain
            start = image.find(magic, start + 1)
    raise Unavailable("the kernel's image holds no compression known here")


def unpack_zstd(data):
    """zstd complains of what follows the kernel in the image; what it wrote before counts."""
    return subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout
