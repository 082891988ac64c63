# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the tests, runs as many at once as the machine holds, and tells what came of them.

A test is a script guest/NAME.sh that says on which boards it runs ("# boards: rt-1 stock-1"), or a
function in cases/*.py with @case("rt-1", "stock-1"). Each board makes one job, NAME@BOARD; each
result that a job reports counts as a test of its own.
"""

import contextlib
import dataclasses
import fnmatch
import importlib
import json
import os
import re
import shutil
import signal
import sys
import threading
import time
import traceback
import unittest
from pathlib import Path

from boards import BOARDS
from lab import host, image
from lab.apt import Unavailable

VM = Path(__file__).resolve().parent.parent
LIMIT = 120  # seconds for a script, unless it says otherwise
RUNNER_LIMIT = 600  # for all of the runner's own tests, which are started early for being long
QEMU_MB = 200  # what QEMU itself takes
REGISTRY = []


class Stop(Exception):
    """The rest of a test makes no sense; what was wrong has been reported."""


def case(*boards, limit=LIMIT, product=False):
    """Marks a function as a test on BOARDS. product: it needs the static punctual."""
    def register(function):
        REGISTRY.append((function, boards, limit, product))
        return function
    return register


class Case:
    """What a test function gets: its board, ways to run scripts there, and to report."""

    def __init__(self, lab, name, board, limit):
        self.lab = lab
        self.name = name
        self.board = board
        self.limit = limit
        self.results = []  # (name, "ok" | "fail" | "skip", text)
        self.guests = []
        self.update_golden = False

    # --- running ---

    def run(self, script, expect="ended", board=None, limit=None, **options):
        """Runs guest/SCRIPT.sh; stops the test if the run does not come to what is expected."""
        text = (VM / "guest" / f"{script}.sh").read_text()
        return self.run_text(text, expect, board, limit, script, **options)

    def run_text(self, text, expect="ended", board=None, limit=None, name="script", **options):
        guest = self.lab.run(board or self.board, text, limit or self.limit, **options)
        self.guests.append(guest)
        for line in guest.files.get("checks", b"").decode(errors="replace").splitlines():
            self._take(line)
        if guest.outcome != expect or (expect == "ended" and guest.status != 0):
            self.results.append((name, "fail", guest.describe()))
            raise Stop
        return guest

    def variant(self, **changes):
        """This test's board with other devices or boot parameters."""
        return dataclasses.replace(self.board, **changes)

    def _take(self, line):
        found = re.fullmatch(r"(ok|not ok|skip) ([^:]+)(?:: (.*))?", line)
        if not found:
            self.results.append(("checks", "fail", f"no result: {line!r}"))
            return
        kind = {"ok": "ok", "not ok": "fail", "skip": "skip"}[found[1]]
        self.results.append((found[2], kind, found[3] or ""))

    def keep(self):
        """Leaves consoles and files of all runs in the cache, for whoever looks into a failure."""
        top = self.lab.cache / "failed" / f"{self.name}@{self.board.name}"
        shutil.rmtree(top, ignore_errors=True)
        for number, guest in enumerate(self.guests, 1):
            folder = top / str(number)
            for name, data in {**guest.files, "console": guest.console.encode()}.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        return top

    def explain(self):
        """Adds to the last failure what its reader wants next: the last run, and where all are."""
        last = max(n for n, (_name, result, _text) in enumerate(self.results) if result == "fail")
        name, result, text = self.results[last]
        words = self.guests[-1].describe()
        if words not in text:
            text += f"\n{words}"
        self.results[last] = (name, result, f"{text}\nwhat the board left is in {self.keep()}")

    # --- reporting ---

    @property
    def failed(self):
        return any(result == "fail" for _name, result, _text in self.results)

    def check(self, name, good, text=""):
        self.results.append((name, "ok" if good else "fail", text))
        return good

    def equal(self, name, actual, wanted):
        return self.check(name, actual == wanted, f"{actual!r}, not {wanted!r}")

    def within(self, name, value, low, high):
        return self.check(name, low <= value <= high, f"{value} is not within {low} to {high}")

    def skip(self, name, why):
        self.results.append((name, "skip", why))


@dataclasses.dataclass
class Job:
    """One test on one board, or the runner's own tests (board None)."""
    name: str
    function: object
    board: object
    limit: int
    product: bool

    def __str__(self):
        return f"{self.name}@{self.board.name}" if self.board else self.name

    def cores(self, all_cores):
        # booting keeps one core busy whatever the board; only idle states without an end keep all
        return all_cores if self.board and self.board.power else 1

    def memory_mb(self):
        return QEMU_MB + (self.board.memory_mb if self.board else 512)


# --- finding tests ---

def header(text, word):
    found = re.search(rf"^# {word}: *(.+)$", text, re.M)
    return found.group(1).split() if found else []


def board_named(name, where):
    if name not in BOARDS:
        raise SystemExit(f"{where}: there is no board '{name}'; there are: {' '.join(BOARDS)}")
    return BOARDS[name]


def script_jobs():
    for path in sorted((VM / "guest").glob("*.sh")):
        text = path.read_text()
        limit = int((header(text, "limit") or [LIMIT])[0])
        product = "product" in header(text, "needs")
        for name in header(text, "boards"):
            yield Job(path.stem, lambda case, script=path.stem: case.run(script),
                      board_named(name, path), limit, product)


def function_jobs():
    for path in sorted((VM / "cases").glob("*.py")):
        importlib.import_module(f"cases.{path.stem}")
    for function, names, limit, product in REGISTRY:
        for name in names:
            yield Job(function.__name__.replace("_", "-"), function,
                      board_named(name, function.__name__), limit, product)


def jobs(patterns):
    """All jobs, or those that PATTERNS choose: a job's whole name that one, a word those that have
    it in their name; * is as in a shell."""
    found = [Job("runner", None, None, RUNNER_LIMIT, False), *script_jobs(), *function_jobs()]
    names = {str(job) for job in found}

    def chosen(name, pattern):
        if pattern in names:
            return name == pattern
        return pattern in name or fnmatch.fnmatch(name, pattern)

    return [job for job in found
            if not patterns or any(chosen(str(job), pattern) for pattern in patterns)]


# --- running them ---

class Room:
    """The machine's cores and memory, shared out to jobs."""

    def __init__(self):
        self.free_cores = sorted(os.sched_getaffinity(0))
        self.all_cores = len(self.free_cores)
        self.memory = max(host.memory_mb() * 3 // 4, 0)
        self.busy = 0
        self.free = threading.Condition()

    def take(self, job):
        """The cores and the memory for JOB, once there are as many."""
        wanted, memory = job.cores(self.all_cores), job.memory_mb()
        with self.free:
            # a job that is too large for the machine still runs, alone
            while self.busy and (len(self.free_cores) < wanted or self.memory < memory):
                self.free.wait()
            cores, self.free_cores = self.free_cores[:wanted], self.free_cores[wanted:]
            self.memory -= memory
            self.busy += 1
        return cores, memory

    def give(self, cores, memory):
        with self.free:
            self.free_cores += cores
            self.memory += memory
            self.busy -= 1
            self.free.notify_all()


def stay_on(cores):
    """Keeps this thread, and the QEMU that it starts, on CORES. Spread over two, QEMU's threads for
    the board's only CPU and for everything else wake each other so often that all takes twice as
    long."""
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, cores)


class Suite:
    """Runs jobs and counts. lab None: nothing can run, and `reason` says why. report: a text file
    that gets each result as a line of JSON,
        {"job": "structure@rt-1", "test": "online", "result": "ok" | "fail" | "skip", "text": ...},
    after those of a job {"job": ..., "seconds": ...}, and at last {"end": true}; where nothing can
    run, the only result is that of a job "boards". out: where it tells people."""

    def __init__(self, lab, reason="", update_golden=False, report=None, out=sys.stdout):
        self.lab = lab
        self.reason = reason
        self.update_golden = update_golden
        self.report = report
        self.out = out
        self.count = {"ok": 0, "fail": 0, "skip": 0}
        self.failures = []
        self.room = Room()
        self.telling = threading.Lock()

    def run(self, wanted):
        """True if nothing failed."""
        if not self.lab:
            self._tell_none(wanted)
            return True
        waiting = sorted(wanted, key=lambda job: (-job.cores(self.room.all_cores), -job.limit))
        threads = []
        for job in waiting:
            taken = self.room.take(job)
            thread = threading.Thread(target=self._worker, args=(job, taken), daemon=True)
            thread.start()
            threads.append(thread)
        for thread in threads:
            thread.join()
        self._note(end=True)
        if self.failures:
            self._print("Failed:", *(f"  {name}" for name in self.failures))
        self._print("{ok} passed, {fail} failed, {skip} skipped".format(**self.count))
        return not self.count["fail"]

    def _tell_none(self, wanted):
        """None can run, for one reason, which is told once."""
        self._note(job="boards", test="", result="skip", text=self.reason)
        for job in wanted:
            self._note(job=str(job), seconds=0)
        self._note(end=True)
        self._print(f"skipped all {len(wanted)} on virtual boards: {self.reason}",
                    "0 passed, 0 failed, 1 skipped")

    def _worker(self, job, taken):
        started = time.monotonic()
        stay_on(taken[0])
        try:
            results = self._results(job)
        except Exception:  # whatever it is, it is this job's failure and no other's
            results = [("test", "fail", traceback.format_exc())]
        finally:
            self.room.give(*taken)
        self._tell(job, results, time.monotonic() - started)

    def _results(self, job):
        try:
            if not job.board:
                return own_tests(self.lab)
            unpacked = self.lab.kernel(job.board.kernel)
            arch = unpacked.kernel.arch
            if job.product and not image.product_path(arch):
                return [("", "skip", f"no {image.PRODUCT[arch]}/punctual has been built")]
            return self._run_case(job)
        except Unavailable as reason:
            return [("", "skip", str(reason))]

    def _run_case(self, job):
        case_ = Case(self.lab, job.name, job.board, job.limit)
        case_.update_golden = self.update_golden
        try:
            job.function(case_)
        except Stop:
            pass
        except (KeyError, ValueError, TypeError, IndexError, AssertionError):
            case_.results.append(("test", "fail", traceback.format_exc()))
        if case_.failed and case_.guests:
            case_.explain()
        return case_.results or [("", "ok", "")]

    def _print(self, *lines):
        print(*lines, sep="\n", file=self.out, flush=True)

    def _note(self, **words):
        if not self.report:
            return
        try:
            self.report.write(json.dumps(words) + "\n")
            self.report.flush()
        except BrokenPipeError:  # whoever wanted to know is gone
            os.kill(os.getpid(), signal.SIGTERM)

    def _tell(self, job, results, seconds):
        with self.telling:
            for name, result, text in results:
                self._note(job=str(job), test=name, result=result, text=text)
            self._note(job=str(job), seconds=round(seconds, 1))
            good = sum(result == "ok" for _name, result, _text in results)
            self._print(f"{job}: {good} of {len(results)}, {seconds:.0f} s")
            for name, result, text in results:
                self.count[result] += 1
                full = f"{job}.{name}" if name else str(job)
                if result == "fail":
                    self.failures.append(full)
                    self._print(f"FAILED {full}", *(f"    {line}" for line in text.splitlines()))
                elif result == "skip":
                    self._print(f"skipped {full}: {text}")


class Collector(unittest.TestResult):
    """The runner's own tests, as results like any other."""

    def __init__(self):
        super().__init__()
        self.results = []

    def _name(self, test):
        return test.id().rsplit(".", 1)[-1].removeprefix("test_")

    def addSuccess(self, test):
        self.results.append((self._name(test), "ok", ""))

    def addFailure(self, test, err):
        self.results.append((self._name(test), "fail", self._exc_info_to_string(err, test)))

    addError = addFailure

    def addSkip(self, test, reason):
        self.results.append((self._name(test), "skip", reason))


def own_tests(lab):
    import test_runner  # it imports what it tests, this module among it
    lab.base(test_runner.BOARD)  # Unavailable here skips them all
    test_runner.LAB = lab
    collector = Collector()
    unittest.defaultTestLoader.loadTestsFromModule(test_runner).run(collector)
    return collector.results
