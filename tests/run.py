#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs every test and ends with "N passed, N failed, N skipped".

    run.py [--build] [WORD...]

Without words, everything: lint, the unit tests (plain and with sanitizers), the include check, the
command-line tests and those on virtual boards. A word selects what has it in its name; but virtual
boards, which take minutes, only a word that begins with "vm": vm, vm/golden, vm/structure@rt-4.
--build configures and builds first; a build that fails is a failed test.

Each test file runs in a process of its own; each test has a time limit. A file of command-line
tests may set TIME_LIMIT (seconds, for each of its tests). With CI=true a skip is a failure unless
tests/ci-skips.list says that it may happen.
"""

import argparse
import fnmatch
import functools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
TESTS = SOURCE / "tests"
TEST_LIMIT = 60  # seconds for one command-line test
UNIT_LIMIT = 120  # seconds for one unit test program; sanitizers and valgrind are slow
BUILD_LIMIT = 900
VM_LIMIT = 900  # for all virtual boards and the fetching of their kernels; half of it is usual
VM_SLOW = 30  # a test on a board that takes longer is told, so that it is seen where the time goes
KILL_GRACE = 15  # seconds for the virtual boards' runner to remove its files
ALONE = {"wakeup"}  # unit tests that measure: nothing of ours runs beside them
CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")

# gcc's warnings are less sure of themselves in code that a sanitizer has changed: no errors there
SANITIZED = ["-Dbuildtype=debugoptimized", "-Dtests=enabled", "-Db_lundef=false", "-Dwerror=false"]
BUILDS = {
    # name: (command to configure, targets)
    "build": (["scripts/configure.sh", "build", "-Dtests=enabled", "-Dwerror=true"], []),
    "build-static": (["scripts/static.sh", "build-static"], []),
    "build-asan": (["scripts/configure.sh", "build-asan", "-Db_sanitize=address,undefined",
                    *SANITIZED], ["unit-tests"]),
    "build-tsan": (["scripts/configure.sh", "build-tsan", "-Db_sanitize=thread", *SANITIZED],
                   ["unit-tests"]),
}


class Record:
    """Results of a step that runs beside others, for the tally later on."""

    def __init__(self):
        self.calls = []

    def ok(self, *words):
        self.calls.append(("ok", words))

    def fail(self, *words):
        self.calls.append(("fail", words))

    def skip(self, *words):
        self.calls.append(("skip", words))

    def replay(self, tally):
        for call, words in self.calls:
            getattr(tally, call)(*words)


class Tally:
    """Counts results, shows each that is not a pass, and says how far things are."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures = []
        path = TESTS / "ci-skips.list"
        lines = path.read_text().splitlines() if path.exists() else []
        self.may_skip = [line.split()[0] for line in lines if line.strip() and line[0] != "#"]

    def ok(self, _name):
        self.passed += 1

    def fail(self, name, text):
        self.failed += 1
        self.failures.append(name)
        print(f"FAILED {name}")
        for line in text.rstrip().splitlines()[-200:]:
            print(f"    {line}")

    def skip(self, name, why):
        if CI and not any(fnmatch.fnmatch(name, pattern) for pattern in self.may_skip):
            self.fail(name, f"skipped where it must run (CI): {why}")
            return
        self.skipped += 1
        print(f"skipped {name}: {why}")

    def last_line(self):
        if self.failures:
            print("Failed:", *self.failures, sep="\n  ")
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)


def kill_group(process):
    """Ends whatever PROCESS, started as the leader of a session, has left running."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(command, limit, env=None):
    """Status (None: over the time limit) and the output of COMMAND, whose children die with it."""
    process = subprocess.Popen(
        command, cwd=SOURCE, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True, text=True, errors="replace")
    try:
        text, _ = process.communicate(timeout=limit)
        return process.returncode, text
    except subprocess.TimeoutExpired:
        kill_group(process)
        text, _ = process.communicate()
        return None, text + f"\n(killed: over {limit} s)"
    except BaseException:
        kill_group(process)
        raise


def report_status(tally, name, status, text):
    if status == 0:
        tally.ok(name)
    else:
        tally.fail(name, text + ("" if status is None else f"\n(status {status})"))


def build(tally, name):
    configure, targets = BUILDS[name]
    started = time.monotonic()
    status, text = run(configure, BUILD_LIMIT)
    if status == 0 and name != "build-static":
        status, more = run(["ninja", "-C", name, *targets], BUILD_LIMIT)
        text += more
    if status == 0 and configure[-1] != "-Dwerror=false" and re.search(r"\bwarning:", text):
        status = "with warnings"
    print(f"{name}: {time.monotonic() - started:.0f} s")
    report_status(tally, f"build/{name}", status, text)


def build_cross(tally, arch):
    status, text = run(["scripts/cross.sh", arch], BUILD_LIMIT)
    skipped = re.search(r"^Skipped, .*", text, re.M)
    if status == 0 and skipped:
        tally.skip(f"build/{arch}", text.strip().replace("\n", "; "))
    else:
        report_status(tally, f"build/{arch}", status, text)


def parse_tap(text):
    """How many tests cmocka's TAP had planned, over all groups of the program, and (ok, name, skip
    reason or None) of each."""
    planned, results = 0, []
    for line in text.splitlines():
        plan = re.fullmatch(r"1\.\.(\d+)", line)
        point = re.match(r"(not ok|ok) (\d+)(?: - ([^#]*))?\s*(?:# ?SKIP ?(.*))?", line)
        if plan:
            planned += int(plan.group(1))
        elif point:
            verdict, number, name, skip = point.groups()
            # cmocka 1.1.5 has the name behind SKIP, and no reason
            results.append((verdict == "ok", (name or skip or number).strip(), skip))
    return planned, results


@functools.cache
def fixed_layout():
    """What to put before a program for ThreadSanitizer: its shadow memory does not fit every random
    layout of newer kernels. Where containers forbid it, it often works without."""
    prefix = ["setarch", os.uname().machine, "-R"]
    return prefix if run([*prefix, "true"], 10)[0] == 0 else []


def run_unit(tally, folder, name):
    """One cmocka program. Fewer results than planned, or a bad status without a failed test (a
    sanitizer's finding, a crash), are failures of the program as a whole."""
    env = {
        **os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP",
        "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "TSAN_OPTIONS": "halt_on_error=0:exitcode=66:second_deadlock_stack=1",
        "PUNCTUAL_SOURCE": str(SOURCE), "PUNCTUAL": str(SOURCE / "build/punctual"),
    }
    program = SOURCE / folder / "tests" / f"test_{name}"
    full = f"{'unit' if folder == 'build' else 'unit-' + folder.removeprefix('build-')}/{name}"
    if not program.exists():
        tally.fail(full, f"{program.relative_to(SOURCE)} was not built")
        return
    prefix = fixed_layout() if folder == "build-tsan" else []
    status, text = run([*prefix, str(program)], UNIT_LIMIT, env)
    planned, results = parse_tap(text)
    bad = [r for r in results if not r[0]]
    for ok, test, skip in results:
        if skip is not None:
            tally.skip(f"{full}.{test}", "not possible here")
        elif ok:
            tally.ok(f"{full}.{test}")
        else:
            tally.fail(f"{full}.{test}", text)
    if not results or len(results) != planned or (status != 0 and not bad):
        tally.fail(full, f"{text}\n({len(results)} of {planned} tests, status {status})")


def run_python(tally, path, env):
    """One file of unittest tests, in a process that tells each result as a line of JSON."""
    name = str(path.relative_to(TESTS).with_suffix(""))
    read_end, write_end = os.pipe()
    command = [sys.executable, "-B", str(Path(__file__).resolve()), "--one", str(path),
               "--report", str(write_end)]
    process = subprocess.Popen(
        command, cwd=SOURCE, env=env, pass_fds=(write_end,), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, text=True,
        errors="replace")
    os.close(write_end)
    count, ended = 0, False
    try:
        with os.fdopen(read_end, encoding="utf-8") as reports:
            for line in reports:
                report = json.loads(line)
                if "end" in report:
                    ended = True
                    continue
                count += 1
                test = f"{name}.{report['test']}"
                if report["result"] == "ok":
                    tally.ok(test)
                elif report["result"] == "skip":
                    tally.skip(test, report["text"])
                else:
                    tally.fail(test, report["text"])
        text, _ = process.communicate(timeout=30)
    except BaseException as error:
        kill_group(process)
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        text, _ = process.communicate()
    kill_group(process)
    if not ended or process.returncode != 0:
        tally.fail(name, f"{text}\n(ended early: status {process.returncode})")
    elif not count:
        tally.fail(name, "no tests in it")


def board_jobs(words):
    """Names of the jobs of tests/vm that WORDS choose, and what came out where none are told."""
    command = [sys.executable, "-B", str(TESTS / "vm/vm.py"), "test", "--list"]
    status, text = run(command, TEST_LIMIT)
    if status != 0:
        return [], text
    return [job for job in text.split() if wanted(f"vm/{job}", words)], ""


def start_boards(jobs, env, output):
    """The virtual boards' runner and the stream on which it tells results."""
    read_end, write_end = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-B", str(TESTS / "vm/vm.py"), "test", "--report", f"/dev/fd/{write_end}",
         *jobs], cwd=SOURCE, env=env, pass_fds=(write_end,), stdin=subprocess.DEVNULL,
        stdout=output, stderr=output, start_new_session=True)
    os.close(write_end)
    return process, os.fdopen(read_end, encoding="utf-8")


def stop_boards(process):
    """Ends the runner, and its boards with it; at once if it does not listen."""
    process.terminate()
    try:
        process.wait(KILL_GRACE)
    except subprocess.TimeoutExpired:
        pass
    kill_group(process)


def take_board_results(tally, stream, waiting):
    """Counts what STREAM tells and removes jobs that have ended from WAITING; true at its end."""
    for line in stream:
        if not line.endswith("\n"):  # the runner was killed while it wrote
            return False
        told = json.loads(line)
        if "end" in told:
            return True
        job = told["job"]
        if "seconds" in told:
            waiting.discard(job)
            if told["seconds"] > VM_SLOW:
                print(f"(vm/{job}: {told['seconds']:.0f} s)", flush=True)
            continue
        name = f"vm/{job}.{told['test']}" if told["test"] else f"vm/{job}"
        if told["result"] == "ok":
            tally.ok(name)
        elif told["result"] == "skip":
            tally.skip(name, told["text"])
        else:
            tally.fail(name, told["text"])
    return False


def run_boards(tally, words, env):
    """The tests on virtual boards. They come last and alone: QEMU takes all CPUs for minutes, and
    what measures on this machine would suffer."""
    words = [word for word in words if word.startswith("vm")]
    jobs, trouble = board_jobs(words)
    if trouble:
        tally.fail("vm", trouble)
    if not jobs:
        return
    waiting = set(jobs)
    with tempfile.TemporaryFile() as output:
        process, stream = start_boards(jobs, env, output)
        timer = threading.Timer(VM_LIMIT, stop_boards, (process,))
        timer.start()
        try:
            with stream:
                ended = take_board_results(tally, stream, waiting)
            process.wait()
        except BaseException:
            stop_boards(process)
            raise
        finally:
            timer.cancel()
        kill_group(process)
        if not ended or waiting:
            output.seek(0)
            text = output.read().decode(errors="replace")
            why = f"ended early, or over {VM_LIMIT} s: status {process.returncode}"
            tally.fail("vm", f"{text}\n({why}; not ended: {' '.join(sorted(waiting))})")


class TimeLimit(Exception):
    pass


class Reporter(unittest.TestResult):
    """Sends each test's result through a pipe and holds each to its time limit."""

    def __init__(self, stream, limit):
        super().__init__()
        self.stream = stream
        self.limit = limit
        self.sub_failures = []

    def send(self, **report):
        self.stream.write(json.dumps(report) + "\n")
        self.stream.flush()

    def report(self, test, result, text=""):
        self.send(test=".".join(test.id().split(".")[1:]) or test.id(), result=result, text=text)

    def startTest(self, test):
        super().startTest(test)
        self.sub_failures = []
        signal.alarm(self.limit)

    def stopTest(self, test):
        super().stopTest(test)
        signal.alarm(self.limit)  # what a class sets up and tears down has the same time

    def addSuccess(self, test):
        # a test whose subTests failed gets here in no version of unittest we know; be sure
        if self.sub_failures:
            self.report(test, "fail", "\n".join(self.sub_failures))
        else:
            self.report(test, "ok")

    def addSubTest(self, test, subtest, error):
        if error:
            text = self._exc_info_to_string(error, test)
            self.report(subtest, "fail", text)
            self.sub_failures.append(text)

    def addFailure(self, test, error):
        self.report(test, "fail", self._exc_info_to_string(error, test))

    addError = addFailure

    def addSkip(self, test, reason):
        self.report(test, "skip", reason)

    def addExpectedFailure(self, test, error):
        self.report(test, "fail", "marked as expected to fail: no test may be")

    def addUnexpectedSuccess(self, test):
        self.report(test, "fail", "marked as expected to fail: no test may be")


def run_one(path, report):
    """The child's side of run_python."""
    def over(_number, _frame):
        raise TimeLimit(f"over {limit} s")

    # what a background shell or nohup ignores, the programs under test would go on ignoring
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    sys.path.insert(0, str(Path(path).parent))
    suite = unittest.defaultTestLoader.loadTestsFromName(Path(path).stem)
    module = sys.modules.get(Path(path).stem)
    limit = getattr(module, "TIME_LIMIT", TEST_LIMIT)
    signal.signal(signal.SIGALRM, over)
    with os.fdopen(report, "w", encoding="utf-8") as stream:
        result = Reporter(stream, limit)
        signal.alarm(limit)
        suite.run(result)
        signal.alarm(0)
        result.send(end=True)


def run_units(tally, words):
    """The unit tests that WORDS choose, plain and with sanitizers, a CPU each."""
    names = (TESTS / "unit/units.list").read_text().split()
    chosen = [(folder, name) for folder in ("build", "build-asan", "build-tsan") for name in names
              if wanted(f"{folder.replace('build', 'unit')}/{name}", words)]

    def one(pair):
        record = Record()
        run_unit(record, *pair)
        return record

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for record in pool.map(one, [pair for pair in chosen if pair[1] not in ALONE]):
            record.replay(tally)
    for pair in chosen:
        if pair[1] in ALONE:
            run_unit(tally, *pair)


def wanted(name, words):
    return not words or any(word in name for word in words)


def plan(options):
    """Every step as (name, function of the tally), in order; one whose name ends with "/" chooses
    within itself."""
    env = {**os.environ, "PUNCTUAL": str(SOURCE / "build/punctual"),
           "PUNCTUAL_BUILD": str(SOURCE / "build"), "PUNCTUAL_SOURCE": str(SOURCE),
           "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"}
    steps = []
    if options.build:
        for name in BUILDS:
            steps.append((f"build/{name}", lambda t, n=name: build(t, n)))
        for arch in ("arm64", "armhf", "riscv64"):
            steps.append((f"build/{arch}", lambda t, a=arch: build_cross(t, a)))
    for what in ("format", "cppcheck"):
        steps.append((f"lint/{what}", lambda t, w=what: report_status(
            t, f"lint/{w}", *run(["scripts/lint.sh", w], 300))))
    steps.append(("unit/", lambda t: run_units(t, options.words)))
    for path in [*sorted(TESTS.glob("test_*.py")), *sorted(TESTS.glob("cli/test_*.py"))]:
        steps.append((str(path.relative_to(TESTS)), lambda t, p=path: run_python(t, p, env)))
    if not options.words or any(word.startswith("vm") for word in options.words):
        steps.append(("vm/", lambda t: run_boards(t, options.words, env)))
    return steps


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true", help="configure and build first")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--report", type=int, help=argparse.SUPPRESS)
    parser.add_argument("words", nargs="*", help="run only what has one of these in its name")
    options = parser.parse_args()
    if options.one:
        run_one(options.one, options.report)
        return 0
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell has it ignored
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))  # what has been started ends first
    tally = Tally()
    steps = plan(options)
    for name, step in steps:
        if not name.endswith("/") and not name.startswith("build/") \
                and not wanted(name, options.words):
            continue
        if "build/build" in tally.failures and not name.startswith(("build/", "lint/")):
            tally.fail("all tests of the program", "not run: it was not built")
            break
        started = time.monotonic()
        step(tally)
        if time.monotonic() - started > 5:
            print(f"({name}: {time.monotonic() - started:.0f} s)", flush=True)
    if not tally.passed and not tally.failed and not tally.skipped:
        print(f"no test is named so: {' '.join(options.words)}", file=sys.stderr)
        return 2
    tally.last_line()
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
