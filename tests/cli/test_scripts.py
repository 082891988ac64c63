#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The scripts around the build, where they meet machines unlike the developer's."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
SCRIPTS = SOURCE / "scripts"


def run(*words, **kwargs):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, **kwargs)


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def tools(self, fakes, *real):
        """A PATH with nothing but FAKES (name: shell text) and the REAL tools named."""
        bin_ = self.folder / "bin"
        bin_.mkdir()
        for name in ("sh", "cat", "tr", "env", *real):
            (bin_ / name).symlink_to(shutil.which(name))
        for name, text in fakes.items():
            (bin_ / name).write_text(f"#!/bin/sh\n{text}\n")
            (bin_ / name).chmod(0o755)
        return {"PATH": str(bin_)}


class Dependencies(Scratch):
    def test_nothing_missing_runs_nothing(self):
        env = self.tools({"dpkg-query": "printf installed", "apt-get": "exit 9",
                          "apt-cache": "exit 9"})
        result = run(SCRIPTS / "deps.sh", "check", env=env)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_installs_only_what_is_missing(self):
        log = self.folder / "log"
        env = self.tools({
            "dpkg-query": 'case $4 in scdoc|zsh) exit 1;; esac; printf installed',
            "apt-cache": "exit 0", "apt-get": f'echo "$@" >>{log}', "id": "echo 0"})
        result = run(SCRIPTS / "deps.sh", "check", env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        calls = log.read_text().splitlines()
        self.assertEqual(len(calls), 1, calls)
        self.assertTrue(calls[0].startswith("install "), calls)
        self.assertTrue(calls[0].endswith(" scdoc zsh"), calls)

    def test_refreshes_an_empty_index(self):
        log = self.folder / "log"
        env = self.tools({"dpkg-query": "exit 1", "apt-cache": "exit 100",
                          "apt-get": f'echo "$1" >>{log}', "id": "echo 0"})
        result = run(SCRIPTS / "deps.sh", "run", env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(log.read_text().split(), ["update", "install"])

    def test_neither_root_nor_sudo(self):
        env = self.tools({"dpkg-query": "exit 1", "apt-get": "exit 9", "apt-cache": "exit 9",
                          "id": "echo 1000"})
        result = run(SCRIPTS / "deps.sh", "run", env=env)
        self.assertEqual(result.returncode, 1)
        self.assertIn("apt-get install", result.stderr)
        self.assertIn("meson", result.stderr)

    def test_sudo_only_where_needed(self):
        env = self.tools({"dpkg-query": "exit 1", "apt-cache": "exit 0", "apt-get": "exit 0",
                          "sudo": f'echo "$@" >>{self.folder}/log; exec "$@"', "id": "echo 1000"})
        result = run(SCRIPTS / "deps.sh", "run", env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("apt-get install", (self.folder / "log").read_text())

    def test_no_debian_says_what_is_needed(self):
        result = run(SCRIPTS / "deps.sh", "run", env=self.tools({"cc": "exit 0"}))
        self.assertEqual(result.returncode, 1)
        self.assertIn("no Debian system", result.stderr)
        self.assertIn("meson", result.stderr)
        self.assertNotIn(" cc", result.stderr)

    def test_no_debian_with_all_tools_goes_on(self):
        fakes = {name: "exit 0" for name in ("cc", "meson", "ninja", "pkg-config")}
        result = run(SCRIPTS / "deps.sh", "run", env=self.tools(fakes))
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Sysroot(Scratch):
    def test_no_network_is_a_skip(self):
        env = {**os.environ, "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
        if not shutil.which("apt-get"):
            self.skipTest("no apt")
        result = run(SCRIPTS / "sysroot.sh", "arm64", self.folder / "root", "no-such-package-here",
                     env=env)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("arm64: packages can't be had at the moment (no-such-package-here)",
                      result.stderr)
        self.assertFalse((self.folder / "root/.complete").exists())

    def test_complete_one_is_left_alone(self):
        root = self.folder / "root"
        root.mkdir()
        (root / ".complete").write_text("a b\n")
        result = run(SCRIPTS / "sysroot.sh", "arm64", root, "a", "b",
                     env=self.tools({"apt-get": "exit 9"}, "mkdir", "dirname"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Run(Scratch):
    """scripts/run.sh with a stand-in for the program: which ends are results, which are errors."""

    def end(self, *statuses):
        count = self.folder / "count"
        count.write_text("0")
        program = self.folder / "punctual"
        program.write_text(
            f'#!/bin/sh\n[ "$1" = measure ] || exit 0\nn=$(cat {count}); echo $((n + 1)) >{count}\n'
            f'set -- {" ".join(map(str, statuses))}\nshift $n; exit $1\n')
        program.chmod(0o755)
        return run(SCRIPTS / "run.sh", program)

    def test_met_and_missed_are_results(self):
        self.assertEqual(self.end(0).returncode, 0)
        missed = self.end(1)
        self.assertEqual(missed.returncode, 0)
        self.assertIn("missed", missed.stdout)

    def test_refused_goes_on_at_normal_priority(self):
        result = self.end(3, 1)
        self.assertEqual(result.returncode, 0)
        self.assertIn("normal priority", result.stdout)
        self.assertEqual(self.end(3, 4).returncode, 4)

    def test_errors_are_errors(self):
        for status in (2, 4, 130):
            result = self.end(status)
            self.assertEqual(result.returncode, status)
            self.assertIn(f"status {status}", result.stderr)


if __name__ == "__main__":
    unittest.main()
