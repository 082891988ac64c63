# SPDX-License-Identifier: GPL-2.0-or-later
"""punctual measure as its users run it: on this machine, with real threads and signals.

Nothing here depends on how fast or how quiet the machine is. Without the right to SCHED_FIFO the
tests measure at normal priority; what needs root says so and is skipped.
"""
import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

PUNCTUAL = os.environ.get("PUNCTUAL", "build/punctual")
ROOT = os.geteuid() == 0


def may_use_fifo():
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        return True
    except PermissionError:
        return False


POLICY = [] if may_use_fifo() else ["--policy", "other"]
CPUS = sorted(os.sched_getaffinity(0))


def run(*arguments, timeout=60, **kwargs):
    return subprocess.run([PUNCTUAL, "measure", *arguments], capture_output=True, text=True,
                          timeout=timeout, **kwargs)


def measure(*arguments, **kwargs):
    """A short run, kept nowhere; its JSON."""
    done = run("--no-store", "--json", *POLICY, *arguments, **kwargs)
    if done.returncode not in (0, 1, 5):
        raise AssertionError(f"exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


class Result(unittest.TestCase):
    def test_document_is_whole_and_agrees_with_itself(self):
        session = measure("--duration", "1s", "--window", "250ms")
        self.assertEqual(session["schema"], "punctual/session/1")
        self.assertEqual([c["cpu"] for c in session["cpus"]], CPUS)
        self.assertTrue(session["complete"])
        for cpu in session["cpus"] + [session["all"]]:
            self.assertGreater(cpu["samples"], 0)
            self.assertEqual(sum(row[2] for row in cpu["histogram"]), cpu["samples"])
            self.assertLessEqual(cpu["min_ns"], cpu["mean_ns"])
            self.assertLessEqual(cpu["mean_ns"], cpu["max_ns"])
            known = [v for v in cpu["percentiles"].values() if v is not None]
            self.assertEqual(known, sorted(known))
        for cpu in session["cpus"]:
            self.assertEqual(sum(w["count"] for w in cpu["windows"]), cpu["samples"])
            self.assertEqual(max(w["max_ns"] for w in cpu["windows"] if w["count"]), cpu["max_ns"])
            self.assertEqual(cpu["largest"][0][1], cpu["max_ns"])
        self.assertEqual(session["all"]["samples"], sum(c["samples"] for c in session["cpus"]))
        self.assertEqual(session["all"]["max_ns"], max(c["max_ns"] for c in session["cpus"]))

    def test_samples_option_is_exact(self):
        session = measure("--samples", "123", "--interval", "500us")
        self.assertEqual({c["samples"] for c in session["cpus"]}, {123})

    def test_unsupported_percentiles_are_null(self):
        session = measure("--samples", "100", "--cpus", str(CPUS[0]))
        percentiles = session["cpus"][0]["percentiles"]
        self.assertIsNotNone(percentiles["50"])
        self.assertIsNone(percentiles["99.9"])
        self.assertIsNone(percentiles["99.999"])

    def test_every_source_names_itself(self):
        for source in ("timer", "timerfd", "signal", "futex", "eventfd", "pipe"):
            with self.subTest(source=source):
                session = measure("--samples", "50", "--source", source)
                self.assertEqual(session["settings"]["source"], source)
                self.assertEqual({c["samples"] for c in session["cpus"]}, {50})
                done = run("--no-store", "--samples", "20", "--source", source, *POLICY)
                self.assertIn(source, done.stdout)

    def test_hand_off_from_another_cpu(self):
        session = measure("--samples", "50", "--source", "futex", "--cpus", str(CPUS[-1]),
                          "--wake-from", str(CPUS[0]))
        self.assertEqual(session["settings"]["wakers"], str(CPUS[0]))

    def test_normal_priority_is_marked_everywhere(self):
        done = run("--no-store", "--samples", "20", "--policy", "other")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("other", done.stdout)
        session = measure("--samples", "20", "--policy", "other")
        self.assertIn("policy-other", [d["kind"] for d in session["distortions"]])

    def test_text_fits_80_columns(self):
        done = run("--no-store", "--duration", "1s", "--goal", "industrial", *POLICY)
        for line in done.stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_goals_decide_the_exit_status(self):
        self.assertEqual(run("--no-store", "--samples", "400", "--goal", "max=1h", *POLICY).returncode, 0)
        self.assertEqual(run("--no-store", "--samples", "400", "--goal", "max=1ns", *POLICY).returncode, 1)
        self.assertEqual(run("--no-store", "--samples", "20", "--goal", "p99.999=1h",
                             *POLICY).returncode, 5)

    def test_deadline_or_the_reason_why_not(self):
        done = run("--no-store", "--json", "--samples", "50", "--policy", "deadline")
        if done.returncode == 0:
            session = json.loads(done.stdout)
            self.assertEqual(session["settings"]["policy"], "deadline")
            self.assertFalse(session["settings"]["pinned"])
        else:
            self.assertEqual(done.returncode, 3)
            self.assertIn("SCHED_DEADLINE", done.stderr)
        if len(CPUS) > 1:
            done = run("--no-store", "--samples", "50", "--policy", "deadline", "--cpus", str(CPUS[0]))
            self.assertEqual(done.returncode, 3)
            self.assertIn("SCHED_DEADLINE", done.stderr)

    @unittest.skipUnless(ROOT and os.path.exists("/dev/cpu_dma_latency"), "needs /dev/cpu_dma_latency")
    def test_dma_latency_is_said_whoever_holds_it(self):
        kinds = [d["kind"] for d in measure("--samples", "20")["distortions"]]
        self.assertNotIn("dma-latency-held", kinds)
        session = measure("--samples", "20", "--dma-latency", "0")
        self.assertIn("dma-latency-held", [d["kind"] for d in session["distortions"]])
        with open("/dev/cpu_dma_latency", "wb", buffering=0) as device:
            device.write((5).to_bytes(4, "little"))
            session = measure("--samples", "20")
            self.assertEqual(session["environment"]["dma_latency_us"], 5)
            self.assertIn("dma-latency-held", [d["kind"] for d in session["distortions"]])

    def test_hdr_log_holds_every_sample(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.hdr")
            measure("--samples", "50", "--hdr", path)
            with open(path) as file:
                text = file.read()
            self.assertIn("StartTimestamp", text)
            self.assertEqual(len(re.findall(r"^Tag=", text, re.M)), len(CPUS))

    def test_output_keeps_mode_and_links(self):
        with tempfile.TemporaryDirectory() as folder:
            path, link = os.path.join(folder, "private"), os.path.join(folder, "link")
            with open(path, "w") as file:
                file.write("before")
            os.chmod(path, 0o640)
            os.symlink("private", link)
            for name in (path, link):
                done = run("--no-store", "--samples", "20", "--json", "--output", name, *POLICY)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(os.stat(path).st_mode & 0o777, 0o640)
                self.assertTrue(os.path.islink(link))
                with open(path) as file:
                    json.load(file)
            redirected = os.path.join(folder, "redirected")
            with open(redirected, "w") as file:
                subprocess.run([PUNCTUAL, "measure", "--no-store", "--samples", "20", "--json", *POLICY,
                                "--output", "/dev/stdout"], stdout=file, timeout=60, check=True)
            self.assertTrue(os.path.islink("/dev/stdout"))
            with open(redirected) as file:
                json.load(file)

    def test_output_file_is_whole_or_absent(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.json")
            done = run("--no-store", "--samples", "20", "--json", "--output", path, *POLICY)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, "")
            with open(path) as file:
                json.load(file)
            self.assertEqual(os.listdir(folder), ["run.json"])


class WrongInput(unittest.TestCase):
    def refused(self, *arguments, status=2, says=""):
        done = run("--no-store", *arguments)
        self.assertEqual(done.returncode, status, (arguments, done.stderr))
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(says, done.stderr)

    def test_nonsense_for_every_option(self):
        for option in ("--cpus", "--source", "--policy", "--priority", "--interval", "--duration",
                       "--samples", "--window", "--dma-latency", "--goal"):
            for value in ("", "bogus", "-1", "1e9x", "99999999999999999999", "0x10", " 5", "١"):
                with self.subTest(option=option, value=value):
                    self.refused(f"{option}={value}")

    def test_bounds(self):
        self.refused("--interval", "1us", says="10us")
        self.refused("--interval", "0")
        self.refused("--interval", "1000", says="unit")
        self.refused("--window", "1ms", says="10ms")
        self.refused("--window", "10ms", "--interval", "20ms", says="--window")
        self.refused("--priority", "0")
        self.refused("--priority", "99", says="watchdog")
        self.refused("--priority", "100", says="98")
        self.refused("--samples", "0")
        self.refused("--duration", "9999999d")
        self.refused("--samples", "5", "--duration", "5s", says="exclude")

    def test_cpu_lists(self):
        self.refused("--cpus", "99", says="99")
        self.refused("--cpus", "3-1", says="3-1")
        self.refused("--cpus", ",", says="names no CPU")
        self.refused("--cpus", "0-", says="0-")
        self.refused("--cpus", "9999999999", says="9999999999")
        self.refused("--wake-from", "0", says="timer")
        self.refused("--source", "pipe", "--wake-from", "", says="names no CPU")
        self.refused("--source", "pipe", "--wake-from", "4000", says="4000")

    def test_nearest_word(self):
        self.refused("--intervall", "1ms", says="--interval")
        self.refused("--goal", "industrail", says="industrial")
        self.refused("whatever", says="whatever")

    def test_output_that_cannot_be_written_is_told_before_the_run(self):
        for option in ("--output", "--hdr"):
            done = run("--no-store", "--duration", "1h", option, "/nonexistent/x", *POLICY)
            self.assertEqual(done.returncode, 4)
            self.assertIn("/nonexistent/x", done.stderr)
        self.refused("--output", "")
        self.refused("--output", "same", "--hdr", "same", says="same")
        self.assertFalse(os.path.exists("same"))

    def test_less_than_a_nanosecond_is_not_without_end(self):
        self.refused("--duration", "0.4ns", says="0.4ns")
        self.refused("--duration", "0.0000000001s")

    @unittest.skipUnless(ROOT, "needs root to drop it")
    def test_without_the_right_to_real_time(self):
        def drop():
            resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
            os.setgid(65534)
            os.setuid(65534)

        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = shutil.copy(PUNCTUAL, os.path.join(folder, "punctual"))
            os.chmod(program, 0o755)
            base = [program, "measure", "--no-store", "--samples", "20"]
            done = subprocess.run(base, capture_output=True, text=True, preexec_fn=drop, timeout=60)
            self.assertEqual(done.returncode, 3, done.stderr)
            for way in ("root", "cap_sys_nice", "ulimit -r", "--policy other"):
                self.assertIn(way, done.stderr)
            done = subprocess.run(base + ["--policy", "other"], capture_output=True, text=True,
                                  preexec_fn=drop, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("other", done.stdout)
            # a home that can't be written: measured all the same, and said once
            done = subprocess.run([program, "measure", "--samples", "20", "--policy", "other"],
                                  capture_output=True, text=True, preexec_fn=drop, timeout=60,
                                  env={"HOME": "/proc", "PATH": os.environ["PATH"]})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("not be kept", done.stderr)
            self.assertIn("all", done.stdout)


class Interruptions(unittest.TestCase):
    def start(self, *arguments, **kwargs):
        return subprocess.Popen([PUNCTUAL, "measure", "--no-store", *POLICY, *arguments],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)

    def wait_until_sampling(self, process):
        """Until the process has more than its control thread."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and process.poll() is None:
            if len(os.listdir(f"/proc/{process.pid}/task")) > len(CPUS):
                return
            time.sleep(0.005)

    def test_ctrl_c_prints_the_results_so_far(self):
        process = self.start("--duration", "60s", "--json")
        self.wait_until_sampling(process)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, err)
        session = json.loads(out)
        self.assertTrue(session["interrupted"])
        self.assertGreater(session["all"]["samples"], 0)

    def test_ctrl_c_is_the_regular_end_of_an_open_run(self):
        process = self.start("--duration", "0", "--json")
        self.wait_until_sampling(process)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0, err)
        self.assertGreater(json.loads(out)["all"]["samples"], 0)

    def test_ctrl_c_at_any_moment(self):
        for delay_ms in (0, 1, 2, 3, 5, 8, 12, 20, 35, 60, 100, 170):
            process = self.start("--duration", "30s", "--json")
            time.sleep(delay_ms / 1000)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
            # before the handlers stand the signal kills, as it does any program
            self.assertIn(process.returncode, (130, 5, -signal.SIGINT), err)
            if process.returncode == 130:
                json.loads(out)

    def test_ctrl_c_twice_keeps_the_results(self):
        process = self.start("--duration", "30s", "--json")
        self.wait_until_sampling(process)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, err)
        json.loads(out)

    def test_no_source_makes_ctrl_c_wait_for_its_interval(self):
        for source in ("timer", "timerfd", "signal", "futex", "eventfd", "pipe"):
            with self.subTest(source=source):
                process = self.start("--duration", "0", "--source", source, "--interval", "1h",
                                     "--window", "1d")
                self.wait_until_sampling(process)
                time.sleep(0.2)
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=30)

    def test_duration_holds_whatever_the_interval(self):
        done = run("--no-store", "--interval", "1h", "--window", "1h", "--duration", "300ms", *POLICY)
        self.assertIn(done.returncode, (0, 5), done.stderr)

    def test_stop_and_continue_is_a_gap(self):
        process = self.start("--duration", "3s", "--json")
        self.wait_until_sampling(process)
        time.sleep(0.5)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.7)
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate(timeout=20)
        session = json.loads(out)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual([g["kind"] for g in session["gaps"]], ["stopped"])
        self.assertGreater(session["gaps"][0]["length_ns"], 200_000_000)
        self.assertIn("gap", [d["kind"] for d in session["distortions"]])

    def test_closed_stdout_is_no_crash(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([PUNCTUAL, "measure", "--no-store", "--samples", "20", *POLICY],
                              stdout=write, stderr=subprocess.PIPE, text=True, timeout=60)
        os.close(write)
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr, "")

    def test_full_disk_for_the_result(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PUNCTUAL, "measure", "--no-store", "--samples", "20", *POLICY],
                                  stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 4)
        self.assertIn("No space left", done.stderr)

    @unittest.skipUnless(ROOT and os.access("/sys/devices/system/cpu/cpu1/online", os.W_OK)
                         and len(CPUS) > 1 and 1 in CPUS, "needs root and a CPU that can go off line")
    def test_cpu_that_goes_off_line(self):
        online = "/sys/devices/system/cpu/cpu1/online"
        process = self.start("--duration", "4s", "--json")
        self.wait_until_sampling(process)
        time.sleep(1)
        try:
            with open(online, "w") as file:
                file.write("0")
            out, err = process.communicate(timeout=30)
            done = run("--no-store", "--cpus", "1", "--samples", "5")
            self.assertEqual(done.returncode, 2)
            self.assertIn("off line", done.stderr)
        finally:
            with open(online, "w") as file:
                file.write("1")
            os.sched_setaffinity(0, CPUS)
        session = json.loads(out)
        ends = {c["cpu"]: c["end"] for c in session["cpus"]}
        self.assertEqual(ends[1], "off line", err)
        self.assertEqual(ends[0], "done")
        self.assertIn("cpu-ended", [d["kind"] for d in session["distortions"]])
        samples = {c["cpu"]: c["samples"] for c in session["cpus"]}
        self.assertGreater(samples[0], samples[1])

    def test_moved_thread_ends_and_is_told(self):
        if len(CPUS) < 2:
            self.skipTest("needs two CPUs")
        process = self.start("--duration", "2s", "--json", "--cpus", str(CPUS[1]))
        self.wait_until_sampling(process)
        time.sleep(0.5)
        for tid in os.listdir(f"/proc/{process.pid}/task"):
            if os.sched_getaffinity(int(tid)) == {CPUS[1]}:
                os.sched_setaffinity(int(tid), {CPUS[0]})
        out, err = process.communicate(timeout=20)
        self.assertEqual(json.loads(out)["cpus"][0]["end"], "moved", err)


class Sampler(unittest.TestCase):
    """What the sampling threads do, and don't do, while they run."""

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_makes_only_its_sources_system_calls(self):
        allowed = {
            "timer": {"clock_nanosleep", "restart_syscall"},
            "timerfd": {"timerfd_settime", "read"},
            "signal": {"timer_settime", "rt_sigtimedwait", "rt_sigreturn"},
            "futex": {"futex"},
            "eventfd": {"read"},
            "pipe": {"read"},
        }
        for source, calls in allowed.items():
            with self.subTest(source=source), tempfile.TemporaryDirectory() as folder:
                log = os.path.join(folder, "trace")
                done = subprocess.run(
                    ["strace", "-f", "-ff", "-o", log, "--", PUNCTUAL, "measure", "--no-store",
                     "--cpus", str(CPUS[0]), "--samples", "300", "--interval", "2ms", "--window", "100ms",
                     "--source", source, *POLICY], capture_output=True, text=True, timeout=120)
                if "Operation not permitted" in done.stderr:
                    self.skipTest("ptrace is not permitted here")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.check_thread(log, folder, source, calls)

    def check_thread(self, log, folder, source, calls):
        found = 0
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), errors="replace") as file:
                lines = file.read().splitlines()
            names = [m.group(1) for m in (re.match(r"(\w+)\(", line) for line in lines) if m]
            # the sampler prepares (gettid, policy), is told to go, and unblocks its stop signal
            if "gettid" not in names or "rt_sigprocmask" not in names:
                continue
            start = max(i for i, n in enumerate(names) if n == "rt_sigprocmask" and i < len(names) - 50)
            end = max(i for i, n in enumerate(names) if n in calls)
            if end - start < 200:
                continue
            found += 1
            self.assertEqual(set(names[start + 1:end + 1]) - calls, set(), source)
        self.assertEqual(found, 1)

    def test_takes_no_page_fault(self):
        session = measure("--duration", "3s", "--window", "200ms")
        if any(d["kind"] == "memory-not-locked" for d in session["distortions"]):
            self.skipTest("memory can't be locked here")
        faults = [w["faults"] for c in session["cpus"] for w in c["windows"]]
        self.assertTrue(any(f is not None for f in faults))
        self.assertEqual(sum(f or 0 for f in faults), 0)

    def test_control_thread_leaves_the_measured_cpu(self):
        if len(CPUS) < 2:
            self.skipTest("needs two CPUs")
        process = subprocess.Popen([PUNCTUAL, "measure", "--no-store", "--duration", "1s", *POLICY,
                                    "--cpus", str(CPUS[1])], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while (os.sched_getaffinity(process.pid) != set(CPUS) - {CPUS[1]}
               and time.monotonic() < deadline and process.poll() is None):
            time.sleep(0.005)
        self.assertIsNone(process.poll())
        self.assertEqual(os.sched_getaffinity(process.pid), set(CPUS) - {CPUS[1]})
        process.wait(20)


class Terminal(unittest.TestCase):
    def test_progress_only_on_a_terminal(self):
        done = run("--no-store", "--duration", "1s", *POLICY)
        self.assertEqual(done.stderr, "")
        master, slave = pty.openpty()
        process = subprocess.Popen([PUNCTUAL, "measure", "--no-store", "--duration", "1s", *POLICY],
                                   stdout=subprocess.PIPE, stderr=slave,
                                   env={**os.environ, "TERM": "xterm"})
        os.close(slave)
        seen = b""
        while True:
            ready, _, _ = select.select([master], [], [], 20)
            try:
                data = os.read(master, 4096) if ready else b""
            except OSError:
                data = b""
            if not data:
                break
            seen += data
        process.communicate(timeout=20)
        os.close(master)
        self.assertIn(b"samples", seen)
        self.assertTrue(seen.endswith(b"\r\x1b[K"), seen[-40:])


if __name__ == "__main__":
    unittest.main()
