#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The files for other architectures, run by QEMU's user mode (make cross builds them)."""

import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
SIZE_MAX = 3 << 20


class Smoke:
    """What every architecture must do. QEMU keeps no time worth measuring: only that it works."""

    name = emulator = machine = ""

    def setUp(self):
        self.program = SOURCE / f"build-{self.name}/punctual"
        if not self.program.exists():
            self.skipTest(f"{self.program.relative_to(SOURCE)} is not built (make cross)")
        if not shutil.which(self.emulator):
            self.skipTest(f"no {self.emulator} (package qemu-user-static)")

    def emulate(self, *words):
        return subprocess.run([self.emulator, self.program, *words], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=False)

    def test_file(self):
        headers = subprocess.run(["readelf", "-hlWS", self.program], capture_output=True, text=True,
                                 check=True, env={**os.environ, "LC_ALL": "C"}).stdout
        self.assertRegex(headers, rf"Machine: +{self.machine}\n")
        self.assertNotIn("INTERP", headers)
        self.assertNotIn(".symtab", headers)
        self.assertLessEqual(self.program.stat().st_size, SIZE_MAX)

    def test_topology(self):
        result = self.emulate("topology", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["schema"], "punctual/topology/1")
        self.assertEqual(self.emulate("topology").returncode, 0)

    def test_measure(self):
        result = self.emulate("measure", "--duration", "1s", "--policy", "other", "--no-store",
                              "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        session = json.loads(result.stdout)
        self.assertEqual(session["schema"], "punctual/session/1")
        for cpu in session["cpus"]:
            self.assertGreater(cpu["samples"], 0)

    def test_same_help(self):
        native = os.environ.get("PUNCTUAL", str(SOURCE / "build/punctual"))
        if not os.path.exists(native):
            self.skipTest("build/punctual is not built")
        for words in (["help"], ["help", "measure"], ["completion", "zsh"]):
            expected = subprocess.run([native, *words], capture_output=True, text=True, check=True)
            self.assertEqual(self.emulate(*words).stdout, expected.stdout)


class Arm64(Smoke, unittest.TestCase):
    name, emulator, machine = "arm64", "qemu-aarch64-static", "AArch64"


class Armhf(Smoke, unittest.TestCase):
    name, emulator, machine = "armhf", "qemu-arm-static", "ARM"


if __name__ == "__main__":
    unittest.main()
