# SPDX-License-Identifier: GPL-2.0-or-later
"""Initramfs archives in cpio's "newc" form, as Documentation/driver-api/early-userspace/
buffer-format.rst describes it. The same content gives the same bytes, and nobody need be root."""

import stat
from pathlib import PurePosixPath


class Cpio:
    """Files by name, in memory; bytes() is the archive. Parents of what is added come along."""

    def __init__(self):
        self.entries = {}

    def _add(self, name, mode, data=b"", device=(0, 0)):
        path = PurePosixPath(name.strip("/"))
        for parent in reversed(path.parents[:-1]):
            self.entries.setdefault(str(parent), (stat.S_IFDIR | 0o755, b"", (0, 0)))
        self.entries[str(path)] = (mode, data, device)

    def file(self, name, data, executable=False):
        self._add(name, stat.S_IFREG | (0o755 if executable else 0o644), data)

    def link(self, name, target):
        self._add(name, stat.S_IFLNK | 0o777, str(target).encode())

    def folder(self, name):
        self._add(name, stat.S_IFDIR | 0o755)

    def device(self, name, major, minor):
        self._add(name, stat.S_IFCHR | 0o600, b"", (major, minor))

    def __contains__(self, name):
        return name.strip("/") in self.entries

    def __bytes__(self):
        parts = []
        # a folder sorts before what is in it
        for inode, name in enumerate(sorted(self.entries), 1):
            parts += _record(inode, name, *self.entries[name])
        parts += _record(0, "TRAILER!!!", 0, b"", (0, 0))
        archive = b"".join(parts)
        return archive + bytes(-len(archive) % 512)


def _record(inode, name, mode, data, device):
    encoded = name.encode() + b"\0"
    fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return header, bytes(-len(header) % 4), data, bytes(-len(data) % 4)
