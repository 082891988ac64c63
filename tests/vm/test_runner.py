#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The runner's own tests: however a test or its board goes wrong, the run ends within its limit,
says what happened and leaves no process behind. `vm.py test runner` runs them."""

import dataclasses
import io
import json
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from boards import BOARDS  # noqa: E402
from lab import run, suite  # noqa: E402

LAB = None  # set by the suite, or below
BOARD = BOARDS["stock-1"]
SLACK = 30  # seconds that an end may take beyond the limit, on a loaded machine


def marked():
    """What QEMU gets to know, so that those of these tests are told from others at work."""
    return dict([MARK.split("=")])


def left_over():
    """QEMU processes of these tests that run."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name = (entry / "comm").read_text().strip()
            group = os.getsid(int(entry.name))
            words = (entry / "environ").read_bytes().split(b"\0")
        except (OSError, ValueError):
            continue
        if name.startswith("qemu-system") and MARK.encode() in words and group != os.getsid(0):
            found.append(int(entry.name))
    return found


MARK = f"PUNCTUAL_RUNNER_TEST={os.getpid()}-{time.monotonic_ns()}"


class Broken(unittest.TestCase):
    """Scripts that go wrong, and what the runner makes of each."""

    def run_script(self, script, board=BOARD, limit=60, **options):
        started = time.monotonic()
        guest = LAB.run(board, script, limit, environment=marked(), **options)
        self.assertEqual(left_over(), [], "QEMU was left running")
        self.assertLess(time.monotonic() - started,
                        limit + options.get("boot_limit", run.BOOT_LIMIT) + SLACK)
        return guest

    def test_good_script_passes(self):
        guest = self.run_script(". /lib.sh; ok it; echo '{\"a\": 1}' >a.json; echo words")
        self.assertTrue(guest.ok, guest.describe())
        self.assertEqual(guest.json("a.json"), {"a": 1})
        self.assertEqual(guest.text("log"), "words\n")
        self.assertEqual(guest.text("checks"), "ok it\n")

    def test_status_is_told(self):
        guest = self.run_script("echo why it failed; exit 7")
        self.assertEqual((guest.outcome, guest.status, guest.ok), ("ended", 7, False))
        self.assertIn("why it failed", guest.describe())

    def test_hang_in_user_space(self):
        guest = self.run_script("while :; do :; done", limit=3)
        self.assertEqual(guest.outcome, "hang", guest.describe())
        self.assertIn("over its limit of 3 s", guest.describe())

    def test_hang_in_the_kernel(self):
        script = "insmod /modules/labnoise.ko; while :; do " \
                 "echo irqs-off 900000 >/sys/module/labnoise/parameters/make; done"
        guest = self.run_script(script, limit=3)
        self.assertEqual(guest.outcome, "hang", guest.describe())

    def test_panic(self):
        guest = self.run_script("echo c >/proc/sysrq-trigger; sleep 1000")
        self.assertEqual(guest.outcome, "panic", guest.describe())
        self.assertIn("Kernel panic", guest.describe())

    def test_garbage(self):
        guest = self.run_script("head -c 5000 /dev/urandom >&9; poweroff -f")
        self.assertEqual(guest.outcome, "garbage", guest.describe())

    def test_results_cut_off(self):
        guest = self.run_script("echo '@lab tar' >&9; head -c 700 /dev/zero | tr '\\0' x >&9;"
                                "poweroff -f")
        self.assertEqual(guest.outcome, "garbage", guest.describe())

    def test_board_goes_down_early(self):
        guest = self.run_script("poweroff -f")
        self.assertEqual(guest.outcome, "died", guest.describe())

    def test_first_process_dies(self):
        guest = self.run_script("kill -9 1; exec 9>&-; kill -SEGV 1; poweroff -f")
        self.assertIn(guest.outcome, ("died", "panic"), guest.describe())

    def test_board_that_does_not_boot(self):
        board = dataclasses.replace(BOARD, boot="rdinit=/none root=/dev/none")
        guest = self.run_script("exit 0", board=board, boot_limit=60)
        self.assertIn(guest.outcome, ("no boot", "panic"), guest.describe())

    def test_qemu_that_refuses(self):
        board = dataclasses.replace(BOARD, processor="no-such-processor")
        guest = self.run_script("exit 0", board=board)
        self.assertEqual(guest.outcome, "no boot", guest.describe())
        self.assertIn("no-such-processor", guest.describe())

    def test_power_cut(self):
        guest = self.run_script(". /lib.sh; host cut; while :; do sleep 1; done",
                                actions={"cut": lambda running: running.cut()})
        self.assertEqual(guest.outcome, "cut", guest.describe())


class Suite(unittest.TestCase):
    """What a test's function does wrong is its own failure."""

    def results(self, function):
        job = suite.Job("broken", function, BOARD, 60, False)
        return suite.Suite(LAB, out=io.StringIO())._results(job)

    def test_exception_is_a_failure(self):
        (_name, result, text), = self.results(lambda case: {}["missing"])
        self.assertEqual(result, "fail")
        self.assertIn("missing", text)

    def test_result_lines_are_counted(self):
        found = self.results(lambda case: case.run_text(
            ". /lib.sh; ok a; not_ok b 'was 3: not 4'; skip c 'no reason'; equal d 1 1; "
            "check e false; echo nonsense >>checks"))
        self.assertEqual([(name, result) for name, result, _text in found],
                         [("a", "ok"), ("b", "fail"), ("c", "skip"), ("d", "ok"), ("e", "fail"),
                          ("checks", "fail")])
        self.assertEqual(found[1][2], "was 3: not 4")
        self.assertIn("no result: 'nonsense'", found[-1][2])
        self.assertIn("what the board left is in", found[-1][2])

    def test_results_are_reported(self):
        """What tests/run.py reads: a line for each result, one for the job, one at the end."""
        report = io.StringIO()
        job = suite.Job("broken", lambda case: case.equal("d", 1, 2), BOARD, 60, False)
        self.assertFalse(suite.Suite(LAB, report=report, out=io.StringIO()).run([job]))
        result, ended, end = map(json.loads, report.getvalue().splitlines())
        self.assertEqual(result, {"job": "broken@stock-1", "test": "d", "result": "fail",
                                  "text": "1, not 2"})
        self.assertEqual((ended["job"], end), ("broken@stock-1", {"end": True}))

    def test_killed_runner_takes_its_boards_along(self):
        script = "import sys; sys.path.insert(0, sys.argv[1]); import test_runner as t, pathlib\n" \
                 "lab = t.run.Lab(pathlib.Path(sys.argv[2]))\n" \
                 "lab.run(t.BOARD, '. /lib.sh; host up; while :; do sleep 1; done', 300," \
                 " actions={'up': lambda _: print('up', flush=True)})"
        process = subprocess.Popen(
            [sys.executable, "-B", "-c", script, str(suite.VM), str(LAB.cache)],
            env={**os.environ, **marked()}, stdout=subprocess.PIPE)
        with process:
            first = process.stdout.readline()
            running = len(left_over())
            process.kill()
        self.assertEqual(first, b"up\n")
        self.assertEqual(running, 1)
        # the kernel delivers the death signal at once, but QEMU needs a moment to be gone
        for _ in range(200):
            if not left_over():
                break
            time.sleep(0.05)
        self.assertEqual(left_over(), [])


if __name__ == "__main__":
    import vm
    LAB = vm.prepare([BOARD.name])
    unittest.main()
