# SPDX-License-Identifier: GPL-2.0-or-later
"""punctual cyclictest beside rt-tests' own: the same bytes but for the numbers.

Where the original is not installed the comparisons are skipped. Nothing here depends on how fast or
how quiet the machine is: numbers are masked, their widths are not.
"""
import json
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

PUNCTUAL = os.path.abspath(os.environ.get("PUNCTUAL", "build/punctual"))
CPUS = sorted(os.sched_getaffinity(0))


def find_original():
    """rt-tests' program, not a link to ours; of the dialect that is compared with."""
    path = shutil.which("cyclictest")
    if not path or os.path.realpath(path) == os.path.realpath(PUNCTUAL):
        return None
    text = subprocess.run([path, "--help"], capture_output=True, text=True, check=False).stdout
    return path if text.startswith("cyclictest V 2.4") else None


def may_use_fifo():
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        return True
    except PermissionError:
        return False


def find_tracing():
    for folder in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing"):
        if os.access(f"{folder}/tracing_on", os.W_OK):
            return folder
    return None


TRACING = find_tracing()
ORIGINAL = find_original()
needs_original = unittest.skipUnless(ORIGINAL, "no cyclictest of rt-tests 2.4 is installed")
needs_fifo = unittest.skipUnless(may_use_fifo(), "no right to SCHED_FIFO, without which cyclictest "
                                                 "measures nothing")


# Fields that a number too large for them widens; no run must fail for a stall of the machine.
FIELDS = [
    (r"((?:Act|Avg):)\d{6,7}\b", 5), (r"((?:Act|Avg):)\d{8,}\b", 8), (r"((?:C|Min):)\d{8,}\b", 7),
    (r"(Max:)\d{9,}\b", 8),
]
SUMMARY = r"# (?:Min|Avg|Max) Latencies:.*|# Histogram Overflows:.*|# Break value: .*"


def mask(text):
    """TEXT with each number as '#' of the same width, the blanks before it included: numbers that
    differ leave no trace, fields of another width do."""
    text = re.sub(r"loadavg: [\d. /]+?(?= {10})", "loadavg: ~", text)
    for pattern, width in FIELDS:
        text = re.sub(pattern, lambda match, w=width: match.group(1) + "0" * w, text)
    text = re.sub(SUMMARY, lambda match: re.sub(r" \d{5,}", " 00000", match.group()), text)
    return re.sub(r" *\d+", lambda match: "#" * len(match.group()), text)


def mask_histogram(text):
    """The same; what overflowed is the machine's affair."""
    return mask(re.sub(r"(# Thread \d+:).*", r"\1", text))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.link = os.path.join(self.folder, "cyclictest")
        os.symlink(PUNCTUAL, self.link)

    def call(self, program, *arguments, **options):
        return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60,
                              cwd=self.folder, stdin=subprocess.DEVNULL, check=False, **options)

    def ours(self, *arguments, **options):
        return self.call(self.link, *arguments, **options)

    def theirs(self, *arguments, **options):
        return self.call(ORIGINAL, *arguments, **options)

    def start(self, *arguments, **options):
        process = subprocess.Popen([self.link, *arguments], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                   cwd=self.folder, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
            process.communicate()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def status(self, text):
        """The summary's threads as dictionaries of numbers."""
        rows = re.findall(r"^T: *(\d+) \( *(\d+)\) P: *(\d+) I:(\d+) C: *(\d+) Min: *(\d+) "
                          r"Act: *(\d+) Avg: *(\d+) Max: *(\d+)$", text, re.M)
        names = "thread tid priority interval cycles min act avg max".split()
        return [dict(zip(names, map(int, row))) for row in rows]


@needs_original
@needs_fifo
class SameBytes(Case):
    def same(self, *arguments, clean=mask):
        ours, theirs = self.ours(*arguments), self.theirs(*arguments)
        self.assertEqual(ours.returncode, theirs.returncode, ours.stderr)
        self.assertEqual(clean(ours.stdout), clean(theirs.stdout))
        self.assertIn("\n", ours.stdout)
        return ours, theirs

    def test_quiet_summary(self):
        for options in ["", "-t2", "-t 2 -N", "-t 3 --priospread -i 700 -d 100", "-S", "-r", "-s",
                        "-c 1", "-A 100", "--secaligned", "-m -u", "-a 0 -t 2",
                        "--policy rr", "--latency 20", "--laptop", "--default-system", "-R"]:
            with self.subTest(options):
                self.same("-q", "-l", "30", "-p", "50", *options.split())

    def test_intervals_and_priorities(self):
        def facts(done):
            return [(t["thread"], t["priority"], t["interval"]) for t in self.status(done.stdout)]

        for options in ["-t 3", "-t 3 -d 0", "-t 3 -i 400 -d 33", "-t 3 --priospread -p 40",
                        "-S -p 7", "-t 2 --policy rr", "-t 4 --policy fifo", "-t 2 --policy idle",
                        "-t 2 --policy other -p 9", "-t 2 --priospread", "-l 10 -p 99"]:
            with self.subTest(options):
                ours, theirs = self.same("-q", "-l", "20", *options.split())
                self.assertEqual(facts(ours), facts(theirs))
                self.assertTrue(facts(ours))

    def test_histogram(self):
        for options in ["-h 1000", "-h 1000 -t 2", "-H 1000 -t 2", "-H 1000", "-h 20 -d 100 -t 3",
                        "-h 1000 -S", "-h 50 -N", "-h 400 -v"]:
            with self.subTest(options):
                self.same("-q", "-l", "25", "-p", "50", *options.split(),
                          clean=mask_histogram)

    def test_overflow_cycles(self):
        # below 5 ns no wake-up is: all samples overflow
        for loops in ("3", "5", "9"):
            ours, theirs = self.ours("-q", "-l", loops, "-p", "50", "-h", "5", "-N"), \
                self.theirs("-q", "-l", loops, "-p", "50", "-h", "5", "-N")
            line = re.search(r"# Histogram Over.*# Thread 0:.*?\n", ours.stdout, re.S)
            self.assertTrue(line)
            self.assertIn(line.group(), theirs.stdout)

    def test_histogram_file(self):
        arguments = ["-q", "-l", "20", "-p", "50", "-t2", "-H", "30", "-N", "--histfile"]
        ours, theirs = self.ours(*arguments, "a"), self.theirs(*arguments, "b")
        self.assertEqual(ours.stdout, theirs.stdout)
        self.assertEqual(mask_histogram(self.read("a")), mask_histogram(self.read("b")))

    def test_verbose(self):
        for options in ["", "-q", "-a 0", "-o 2", "-N -h 3", "-i 500 -d 100"]:
            with self.subTest(options):
                self.same("-l", "6", "-p", "50", *options.split(), "-v")

    def test_verbose_head_of_several_threads(self):
        ours, theirs = self.ours("-v", "-l", "5", "-p", "50", "-t2"), \
            self.theirs("-v", "-l", "5", "-p", "50", "-t2")
        head = [text.stdout.split("       ")[0] for text in (ours, theirs)]
        self.assertEqual(*head)
        self.assertIn("Thread 1 Interval: 2000\n", head[0])

    def test_break(self):
        # at a limit of 1 ns the first sample ends the run
        for options in ["", "-h 5", "-v", "-S"]:
            with self.subTest(options):
                arguments = ["-q", "-l", "900", "-p", "50", "-N", "-b", "1", *options.split()]
                ours, theirs = self.ours(*arguments), self.theirs(*arguments)
                if options != "-S":  # where a second thread may or may not have run
                    # the original forgets to print the last values of -v
                    text = re.sub(r"^ +0: +0: +\d+\n", "", ours.stdout, flags=re.M)
                    self.assertEqual(mask(text), mask(theirs.stdout))
                self.assertEqual(ours.returncode, 1)
                tail = r"# Thread Ids:( \d{5,})+\n# Break thread: \d+\n# Break value: \d+\n\Z"
                self.assertRegex(ours.stdout, tail)
                self.assertRegex(theirs.stdout, tail)

    def test_break_not_reached(self):
        arguments = ["-q", "-l", "5", "-p", "50", "-b", "1000000000"]
        self.same(*arguments)

    def test_spikes(self):
        self.same("-q", "-l", "7", "-p", "50", "-N", "--spike", "1", "--spike-nodes", "3")
        self.same("-q", "-l", "7", "-p", "50", "-N", "--spike", "1000000000")

    def test_json(self):
        def clean(text):
            self.assertIn('"cmdline:"', text)
            text = re.sub(r'^ +"(missed|overflows|punctual_version)": .*\n', "", text, flags=re.M)
            text = re.sub(r'(\{\n)( +"\d+": \d+,?\n)+(      \},\n      "cycles)', r"\1~\n\3", text)
            text = re.sub(r'("cmdline:": ").*/cyclictest ', r"\1cyclictest ", text)
            text = re.sub(r'_time": ".*"', '_time": "~"', text)
            return re.sub(r": -?\d+(\.\d\d)?\b", r": #\1",
                          re.sub(r"\.\d\d\b", ".00", text))

        for options in ["-N -h 5", "-h 1000", "", "-t 2 -N -h 5", "-S -h 1000"]:
            with self.subTest(options):
                arguments = ["-q", "-l", "20", "-p", "50", *options.split(), "--json=out"]
                self.ours(*arguments)
                ours = self.read("out")
                self.theirs(*arguments)
                theirs = self.read("out")
                self.assertEqual(clean(ours), clean(theirs))
                a, b = json.loads(ours), json.loads(theirs)
                for key in ("sysinfo", "num_threads", "resolution_in_ns", "rt_test_version:"):
                    self.assertEqual(a[key], b[key], key)
                places = [[(t["cpu"], t["node"]) for t in x["thread"].values()] for x in (a, b)]
                self.assertEqual(*places)

    def test_cpus(self):
        def places(program, arguments, allowed):
            self.call(program, "-q", "-l", "3", "-p", "50", *arguments, "--json=out",
                      preexec_fn=lambda: os.sched_setaffinity(0, allowed))
            threads = json.loads(self.read("out"))["thread"]
            return [threads[str(i)]["cpu"] for i in range(len(threads))]

        last = str(CPUS[-1])
        for allowed in (set(CPUS), {CPUS[0]}, {CPUS[-1]}):
            for options in ["", "-t", "-t -a", "-S", "-t 3", f"-a {last}", f"-a {last} -t",
                            f"-t5 -a {CPUS[0]},{last}", f"-t 3 --affinity={last}"]:
                with self.subTest(f"{options}, allowed {allowed}"):
                    self.assertEqual(places(self.link, options.split(), allowed),
                                     places(ORIGINAL, options.split(), allowed))

    @staticmethod
    def frames(text):
        """The masked frames of a live run, and what stands before each."""
        pieces = re.split(r"(\033\[\d+[AB])", text)
        return [mask(piece) for piece in pieces]

    def test_live(self):
        for options in ["", "-t 2", "-N", "-h 3 -N", "--policy batch", "-S --policy rr"]:
            with self.subTest(options):
                policy = [] if "policy" in options else ["-p", "50"]
                arguments = ["-l", "60", *policy, *options.split()]
                ours, theirs = self.frames(self.ours(*arguments).stdout), \
                    self.frames(self.theirs(*arguments).stdout)
                self.assertGreater(len(ours), 2)
                self.assertEqual(ours[0], theirs[0])
                self.assertEqual(ours[-1], theirs[-1])
                self.assertEqual(set(ours), set(theirs))

    def test_refresh_on_max_in_a_terminal(self):
        def run(program, *options):
            master, slave = pty.openpty()
            process = subprocess.Popen([program, "-l", "100", "-p", "50", "-t2", *options],
                                       stdout=slave, stderr=subprocess.DEVNULL,
                                       stdin=subprocess.DEVNULL)
            os.close(slave)
            text = b""
            try:
                while chunk := os.read(master, 65536):
                    text += chunk
            except OSError:  # the other end is closed
                pass
            os.close(master)
            self.assertEqual(process.wait(), 0)
            return text.decode()

        ours, theirs, live = run(self.link, "-M"), run(ORIGINAL, "-M"), run(ORIGINAL)
        self.assertEqual(self.frames(ours)[0], self.frames(theirs)[0])
        for text in (ours, theirs):
            self.assertTrue(text.endswith("\033[4B"), text)
        # neither must have seen a new maximum later on
        self.assertLessEqual(set(self.frames(ours)),
                             set(self.frames(theirs)) | set(self.frames(live)))
        self.assertLess(ours.count("policy:"), live.count("policy:"))


@needs_fifo
class Results(Case):
    def test_numbers_agree(self):
        done = self.ours("-q", "-l", "200", "-p", "50", "-t2", "-h", "1000000", "--json=out",
                         "-v")
        result = json.loads(self.read("out"))
        values = re.findall(r"^ +(\d+): +(\d+): +(\d+)$", done.stdout, re.M)
        self.assertEqual(max(t["cycles"] for t in result["thread"].values()), 200)
        for name, thread in result["thread"].items():
            mine = [int(v) for n, _, v in values if n == name]
            cycles = [int(c) for n, c, v in values if n == name and v != "0"]
            self.assertEqual(len(mine), thread["cycles"])
            self.assertEqual([min(mine), max(mine)], [thread["min"], thread["max"]])
            self.assertAlmostEqual(sum(mine) / len(mine), thread["avg"], delta=0.006)
            self.assertEqual(cycles, sorted(set(cycles)))
            self.assertEqual(sum(thread["histogram"].values()) + thread["overflows"],
                             thread["cycles"])
            for value in set(mine):
                if value < 1000000:
                    self.assertEqual(thread["histogram"][str(value)], mine.count(value))

    def test_overflows_are_in_json(self):
        self.ours("-q", "-l", "20", "-p", "50", "-N", "-h", "5", "--json=out")
        thread = json.loads(self.read("out"))["thread"]["0"]
        self.assertEqual((thread["overflows"], thread["histogram"]), (20, {}))
        self.ours("-q", "-l", "20", "-p", "50", "--json=out")
        self.assertIsNone(json.loads(self.read("out"))["thread"]["0"]["overflows"])

    def test_dialect(self):
        text = self.ours("-q", "-l", "20", "-p", "50", "-h", "1000", "--dialect", "2.7").stdout
        self.assertNotIn("# Total", text)
        rows = re.findall(r"^\d{6} (\d{6})$", text, re.M)
        self.assertTrue(all(int(count) for count in rows), text)
        overflows = int(re.search(r"# Histogram Overflows: (\d+)", text).group(1))
        self.assertEqual(sum(map(int, rows)) + overflows, 20)

    def test_first_bound_ends_the_run(self):
        done = self.ours("-q", "-p", "50", "-D", "1", "-l", "100000000")
        self.assertEqual(done.returncode, 0, done.stderr)
        cycles = self.status(done.stdout)[0]["cycles"]
        self.assertTrue(0 < cycles <= 1000, done.stdout)
        done = self.ours("-q", "-p", "50", "-D", "1d", "-l", "40")
        self.assertEqual(self.status(done.stdout)[0]["cycles"], 40)

    def test_stall_is_counted(self):
        process = self.start("-p", "50", "--json=out")
        for _ in range(8):
            process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.2)  # the stall itself
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        missed = json.loads(self.read("out"))["thread"]["0"]["missed"]
        self.assertGreater(missed, 0)
        self.assertIn(f"{missed} periods were missed", errors)

    def test_break_is_in_json(self):
        done = self.ours("-q", "-p", "50", "-N", "-b", "1", "--json=out")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(self.read("out"))["return_code"], 1)

    @unittest.skipUnless(TRACING, "tracefs is not mounted, or not ours to write to")
    def test_trace_is_marked_and_stopped(self):
        def tracing(text=None):
            with open(f"{TRACING}/tracing_on", "r+", encoding="utf-8") as file:
                return file.write(text) if text else file.read().strip()

        before = tracing()
        self.addCleanup(tracing, before)
        tracing("1")
        self.ours("-q", "-l", "5", "-p", "50", "-N", "-b", "1")
        self.assertEqual(tracing(), "1")
        self.ours("-q", "-l", "5", "-p", "50", "-N", "-b", "1", "--tracemark")
        self.assertEqual(tracing(), "0")
        with open(f"{TRACING}/trace", encoding="utf-8", errors="replace") as file:
            self.assertRegex(file.read(), r"hit latency threshold \(\d+ > 1\)")

    def interrupt(self, *arguments, number=signal.SIGINT):
        process = self.start("-p", "50", "-t2", *arguments)
        head = "".join(process.stdout.readline() for _ in range(8))
        process.send_signal(number)
        rest, errors = process.communicate(timeout=30)
        return process.returncode, head + rest, errors

    def test_interrupt_ends_an_endless_run(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            status, text, errors = self.interrupt(number=number)
            self.assertEqual(status, 0, errors)
            self.assertGreater(self.status(text)[-1]["cycles"], 0)

    def test_interrupt_cuts_short(self):
        status, text, _ = self.interrupt("-D", "1d", "-h", "200", "--json=out")
        self.assertEqual(status, 130)
        self.assertIn("# Histogram Overflow at cycle number:", text)
        self.assertEqual(json.loads(self.read("out"))["return_code"], 130)

    def test_interrupt_quiet(self):
        status, text, errors = self.interrupt("-q", "-v")
        self.assertEqual(status, 0, errors)
        self.assertEqual(len(self.status(text)), 2, text)

    def test_named_pipe(self):
        path = os.path.join(self.folder, "pipe")
        process = self.start("-q", "-v", "-p", "50", "-t2", "-F", path)
        for _ in range(8):
            process.stdout.readline()
        with open(path, encoding="utf-8") as pipe:
            text = pipe.read()
        self.assertEqual([t["thread"] for t in self.status(text)], [0, 1], text)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertFalse(os.path.exists(path))

    def test_named_pipe_replaces_no_file(self):
        path = os.path.join(self.folder, "file")
        with open(path, "w", encoding="utf-8") as file:
            file.write("mine")
        done = self.ours("-q", "-l", "1", "-p", "50", "-F", path)
        self.assertEqual(done.returncode, 4)
        self.assertIn("no named pipe", done.stderr)
        self.assertEqual(self.read("file"), "mine")

    def test_reader_goes_away(self):
        process = self.start("-p", "50")
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=30), 4)
        self.assertNotIn("write", process.stderr.read())

    def test_unwritable_files_end_before_the_run(self):
        for option in (["--json=/nowhere/x"], ["-h", "5", "--histfile=/nowhere/x"]):
            done = self.ours("-q", "-p", "50", *option)  # would never end
            self.assertEqual((done.returncode, done.stdout), (4, ""))
            self.assertIn("/nowhere/x", done.stderr)

    def test_normal_priority_is_remarked(self):
        done = self.ours("-q", "-l", "5")
        self.assertIn("no real-time figure", done.stderr)
        self.assertNotIn("no real-time figure", self.ours("-q", "-l", "5", "-p", "5").stderr)

    def test_posix_timers(self):  # the original prints negative latencies at times
        done = self.ours("-q", "-l", "40", "-p", "50", "-x", "-h", "1000", "-t2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("# Min Latencies: 0", done.stdout)

    def test_old_scripts(self):
        done = self.ours("-t1", "-p80", "-n", "-i", "1000", "-l10", "-q", "-m", "-c0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.status(done.stdout)[0]["priority"], 80)


class Refused(Case):
    WRONG = [
        (["--smi"], "--smi is not supported"),
        (["--deepest-idle-state=1"], "--latency"),
        (["--dbg_cyclictest"], "not supported"),
        (["-a", "5000"], "no CPU 5000"),
        (["-a", "3-1"], "3-1"),
        (["--affinity="], "names no CPU"),
        (["--mainaffinity=5000"], "no CPU 5000"),
        (["-i", "0"], "--interval"),
        (["-i", "-5"], "--interval"),
        (["-i", "1e3"], "--interval"),
        (["-p", "100"], "--priority"),
        (["-p", "abc"], "--priority"),
        (["-t0"], "--threads"),
        (["-t", "99999"], "--threads"),
        (["--threads=x"], "--threads"),
        (["-t", "5", "--priospread", "-p", "4"], "--priospread"),
        (["-c", "2"], "--clock"),
        (["-o", "3"], "--oscope"),
        (["-A", "5", "--secaligned"], "exclude"),
        (["-A", "-5"], "-5"),
        (["-x", "-r"], "not supported"),
        (["--policy", "nonsense"], "nonsense"),
        (["-D", "500ms"], "500ms"),
        (["-D", "1m30s"], "1m30s"),
        (["-D", ""], "--duration"),
        (["-D", "99999999999999999999"], "--duration"),
        (["-h", "0"], "--histogram"),
        (["-H", "x"], "--histofall"),
        (["-b"], "--breaktrace"),
        (["-l", "10x"], "--loops"),
        (["--dialect", "3"], "--dialect"),
        (["--hist", "5"], "--hist"),
        (["--bogus"], "--bogus"),
        (["-U"], "-U"),
        (["extra"], "extra"),
    ]

    def test_wrong_usage(self):
        for arguments, says in self.WRONG:
            with self.subTest(" ".join(arguments)):
                done = self.ours("-q", "-l", "1", *arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(says, done.stderr.splitlines()[-1])
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_without_the_right(self):
        program = os.path.join(self.folder, "copy")
        shutil.copy(PUNCTUAL, program)
        os.chmod(self.folder, 0o755)
        who = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}

        def limit():
            resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))

        done = self.call(program, "cyclictest", "-q", "-l", "1", preexec_fn=limit, **who)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("Unable to change scheduling policy!", done.stderr)
        self.assertIn("root", done.stderr)

    def test_help_by_both_names(self):
        by_link = self.ours("--help")
        by_command = self.call(PUNCTUAL, "cyclictest", "--help")
        self.assertEqual((by_link.returncode, by_link.stderr), (0, ""))
        self.assertEqual(by_link.stdout, by_command.stdout)
        self.assertIn("-h, --histogram US", by_link.stdout)
        self.assertLessEqual(max(map(len, by_link.stdout.splitlines())), 80)


if __name__ == "__main__":
    unittest.main()
