#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The one file for a board: what it needs (nothing), its size, and that it works in a bare root."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
STATIC = SOURCE / "build-static/punctual"
SIZE_MAX = 3 << 20


class Static(unittest.TestCase):
    def setUp(self):
        if not STATIC.exists():
            self.skipTest(f"{STATIC.relative_to(SOURCE)} is not built (make static)")

    def test_size(self):
        self.assertLessEqual(STATIC.stat().st_size, SIZE_MAX)

    def test_needs_no_library_and_is_stripped(self):
        headers = subprocess.run(["readelf", "-lWS", STATIC], capture_output=True, text=True,
                                 check=True, env={**os.environ, "LC_ALL": "C"}).stdout
        self.assertIn("LOAD", headers)
        self.assertNotIn("INTERP", headers)
        self.assertNotIn(".symtab", headers)
        self.assertNotIn(".debug", headers)


class Bare(unittest.TestCase):
    """A root with one file in it. Needs the right to chroot."""

    def setUp(self):
        if not STATIC.exists():
            self.skipTest(f"{STATIC.relative_to(SOURCE)} is not built (make static)")
        if os.geteuid() != 0:
            self.skipTest("chroot needs root")
        folder = tempfile.mkdtemp(prefix="punctual-root-")
        self.addCleanup(shutil.rmtree, folder)
        self.root = Path(folder)
        shutil.copy(STATIC, self.root / "punctual")

    def run_bare(self, *words):
        chroot = shutil.which("chroot", path="/usr/sbin:/sbin:/usr/bin:/bin")
        return subprocess.run([chroot, self.root, "/punctual", *words], env={}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)

    def mount(self, kind):
        where = self.root / kind
        where.mkdir()
        source = {"proc": "proc", "sys": "sysfs"}[kind]
        done = subprocess.run(["mount", "-t", source, "-o", "ro", source, where],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            self.skipTest(f"mounting {kind} is not permitted here: {done.stderr.strip()}")
        # before the folder is removed: clean-ups run last in, first out
        self.addCleanup(subprocess.run, ["umount", where], check=True)

    def assert_says_what_is_missing(self, result):
        self.assertIn(result.returncode, (2, 4, 5), result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"\A.*\bproc\b.*\n\Z")

    def test_measures_with_nothing_there(self):
        """No /proc and no /sys: either it measures, or a sentence says what is missing."""
        result = self.run_bare("measure", "--duration", "1s", "--no-store", "--json")
        if result.returncode:
            self.assert_says_what_is_missing(result)
            return
        session = json.loads(result.stdout)
        self.assertEqual(session["schema"], "punctual/session/1")
        self.assertEqual({c["cpu"] for c in session["cpus"]}, set(os.sched_getaffinity(0)))
        for cpu in session["cpus"]:
            self.assertGreater(cpu["samples"], 0)
        self.assertEqual(sorted(p.name for p in self.root.iterdir()), ["punctual"])

    def test_topology_with_nothing_there(self):
        """No /proc and no /sys: either what is known otherwise, or a sentence; never invented."""
        result = self.run_bare("topology", "--json")
        if result.returncode:
            self.assert_says_what_is_missing(result)
            return
        topology = json.loads(result.stdout)
        for cpu in topology["cpus"]:
            self.assertIsNone(cpu["core"])
            self.assertIsNone(cpu["package"])

    def test_frame_with_nothing_there(self):
        for words in ([], ["--version"], ["help", "measure"], ["completion", "bash"]):
            with self.subTest(words=words):
                result = self.run_bare(*words)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertTrue(result.stdout)

    def test_topology_with_proc_and_sys(self):
        self.mount("proc")
        self.mount("sys")
        result = self.run_bare("topology", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        topology = json.loads(result.stdout)
        online = Path("/sys/devices/system/cpu/online").read_text().strip()
        got = sorted(c["cpu"] for c in topology["cpus"] if c["online"])
        self.assertEqual(got, cpus(online))
        result = self.run_bare("topology")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_measures_with_proc_and_sys(self):
        self.mount("proc")
        self.mount("sys")
        result = self.run_bare("measure", "--duration", "1s", "--no-store")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("p99", result.stdout)


def cpus(text):
    numbers = []
    for piece in text.split(","):
        low, _, high = piece.partition("-")
        numbers += range(int(low), int(high or low) + 1)
    return numbers


if __name__ == "__main__":
    unittest.main()
