# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions from measure into the store and back: history, show, compare, and what they say when
something is in the way. Runs at normal priority: what is measured does not matter here."""
import json
import os
import resource
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

PUNCTUAL = os.environ.get("PUNCTUAL", "build/punctual")
ROOT = os.geteuid() == 0
CPU = str(min(os.sched_getaffinity(0)))


def punctual(*arguments, **kwargs):
    return subprocess.run([PUNCTUAL, *arguments], capture_output=True, text=True, timeout=50,
                          **kwargs)


def as_nobody():
    """For preexec_fn: gives up root for good."""
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)


class Stored(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.store = os.path.join(self.folder, "s.db")

    def arguments(self, *more):
        return ["measure", "--policy", "other", "--cpus", CPU, "--store", self.store, *more]

    def measure(self, *more):
        done = punctual(*self.arguments("--duration", "150ms", "--window", "50ms", "--json", *more))
        self.assertIn(done.returncode, (0, 1, 5), done.stderr)  # 5: too few samples for it
        return json.loads(done.stdout)

    def run_on(self, command, *arguments, status=0, **kwargs):
        """stdout; where STATUS is not 0, the one line on stderr, and stdout must be empty."""
        done = punctual(command, *arguments, "--store", self.store, **kwargs)
        self.assertEqual(done.returncode, status, done.stderr)
        if not status:
            self.assertEqual(done.stderr, "")
            return done.stdout
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith(f"punctual {command}: "), done.stderr)
        return done.stderr

    def document(self, command, *arguments):
        return json.loads(self.run_on(command, *arguments, "--json"))


class Show(Stored):
    def test_document_is_the_one_that_measure_printed(self):
        session = self.measure("--goal", "p50=1h,max=1ns")
        self.assertEqual(session["verdict"], "missed")
        self.assertEqual(self.document("show"), session)
        self.assertEqual(self.document("show", session["id"][:6]), session)
        self.assertEqual(os.listdir(self.folder), ["s.db"])

    def test_text_is_the_one_that_measure_printed(self):
        done = punctual(*self.arguments("--duration", "100ms", "--quiet"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.run_on("show", "last"), done.stdout)

    def test_output_and_hdr_files(self):
        session = self.measure()
        out, log, first = (os.path.join(self.folder, name) for name in ("o", "log", "first"))
        self.assertEqual(self.run_on("show", "--json", "--output", out, "--hdr", log), "")
        with open(out, encoding="utf-8") as file:
            self.assertEqual(json.load(file), session)
        session = self.measure("--hdr", first)
        self.run_on("show", "--hdr", log)
        with open(log, encoding="utf-8") as a, open(first, encoding="utf-8") as b:
            self.assertEqual(a.read(), b.read())

    def test_ids(self):
        ids = [self.measure()["id"] for _ in range(3)]
        for given, wanted in (("last", 2), ("last~0", 2), ("last~2", 0), (ids[1][:8], 1),
                              (ids[0].upper(), 0)):
            self.assertEqual(self.document("show", given)["id"], ids[wanted])
        self.assertIn("holds 3", self.run_on("show", "last~3", status=2))
        self.assertIn("too short", self.run_on("show", "abc", status=2))
        self.assertIn("is no session", self.run_on("show", "lasst", status=2))
        unknown = next(c * 8 for c in "0123456789" if not any(i.startswith(c * 8) for i in ids))
        self.assertIn(f"no session {unknown}", self.run_on("show", unknown, status=2))
        self.run_on("show", "last", "last", status=2)

    def test_ambiguous_id(self):
        self.measure()
        self.measure()
        with sqlite3.connect(self.store) as db:
            db.execute("UPDATE session SET id = 'abcd' || substr(id, 5)")
        db.close()
        self.assertIn("several", self.run_on("show", "abcd", status=2))
        self.assertIn("several", self.run_on("compare", "last", "abcd", status=2))

    def test_output_that_cannot_be_written(self):
        self.measure()
        self.assertIn("/nonexistent/x", self.run_on("show", "--output", "/nonexistent/x", status=4))
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([PUNCTUAL, "show", "--json", "--store", self.store], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=50, check=False)
        self.assertEqual(done.returncode, 4)
        self.assertIn("No space left", done.stderr)


class History(Stored):
    def test_newest_first_and_limit(self):
        ids = [self.measure("--goal", "control")["id"] for _ in range(3)]
        history = self.document("history")
        self.assertEqual(history["schema"], "punctual/history/1")
        self.assertEqual(history["store"], self.store)
        self.assertEqual([s["id"] for s in history["sessions"]], ids[::-1])
        limited = self.document("history", "--limit", "2")
        self.assertEqual(limited["sessions"], history["sessions"][:2])
        self.assertEqual(self.document("history", "--limit", "0"), history)
        self.run_on("history", "--limit", "-1", status=2)
        self.run_on("history", "more", status=2)

    def test_figures_are_those_of_the_session(self):
        session = self.measure("--goal", "control")
        entry = self.document("history")["sessions"][0]
        for key in ("id", "started", "duration_ns", "complete", "interrupted", "verdict", "goal"):
            self.assertEqual(entry[key], session[key], key)
        self.assertEqual(entry["cpus"], CPU)
        self.assertEqual(entry["source"], "timer")
        self.assertEqual(entry["policy"], "other")
        self.assertEqual(entry["kernel"], session["environment"]["kernel_release"])
        self.assertEqual(entry["kernel"], os.uname().release)
        self.assertEqual(entry["samples"], session["all"]["samples"])
        self.assertEqual(entry["missed"], session["all"]["missed"])
        self.assertEqual(entry["p99_ns"], session["all"]["percentiles"]["99"])
        self.assertEqual(entry["max_ns"], session["all"]["max_ns"])

    def test_text_has_80_columns_and_local_time(self):
        session = self.measure("--goal", "industrial", "--source", "eventfd")
        text = self.run_on("history", env={**os.environ, "TZ": "EAST-5"})
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)
        line = next(li for li in text.splitlines() if li.startswith(session["id"][:8]))
        started = time.strptime(session["started"][:16], "%Y-%m-%dT%H:%M")
        local = time.gmtime(time.mktime(started) - time.timezone + 5 * 3600)
        self.assertIn(time.strftime("%Y-%m-%d %H:%M", local), line)
        self.assertIn(" eventfd ", line)
        self.assertTrue(line.endswith(" " + session["verdict"]), line)
        heading = text[:text.index(line)].split("\n\n")[-1]
        self.assertIn(os.uname().release, heading)
        self.assertIn("goal industrial", heading)
        self.assertIn("no real-time figures", heading)

    def test_shared_headings_stand_once(self):
        for goal in ("industrial", "industrial", "control"):
            self.measure("--goal", goal)
        text = self.run_on("history")
        self.assertEqual(text.count("goal industrial"), 1)
        self.assertEqual(text.count("goal control"), 1)


class Compare(Stored):
    def test_differences_are_b_minus_a(self):
        a, b = self.measure(), self.measure("--duration", "300ms")
        result = self.document("compare", "last~1", b["id"][:8])
        self.assertEqual(result["schema"], "punctual/compare/1")
        self.assertEqual((result["a"]["id"], result["b"]["id"]), (a["id"], b["id"]))
        self.assertTrue(result["comparable"])
        self.assertEqual(result["reasons"], [])
        figures = {f["figure"]: f for f in result["figures"]}
        self.assertEqual(list(figures), ["min", "mean", "stddev", "p50", "p90", "p99", "p99.9",
                                         "p99.99", "p99.999", "max", "missed"])
        for name, key in (("min", "min_ns"), ("max", "max_ns")):
            figure = figures[name]
            self.assertEqual((figure["a_ns"], figure["b_ns"]), (a["all"][key], b["all"][key]))
            self.assertEqual(figure["difference_ns"], b["all"][key] - a["all"][key])
            self.assertAlmostEqual(figure["percent"], 100 * figure["difference_ns"] / a["all"][key],
                                   places=2)
        self.assertEqual(figures["p50"]["a_ns"], a["all"]["percentiles"]["50"])
        # too few samples: not known, and nothing is derived from it
        self.assertEqual(figures["p99.999"], {"figure": "p99.999", "a_ns": None, "b_ns": None,
                                              "difference_ns": None, "percent": None})
        self.assertEqual(figures["missed"]["difference"], b["all"]["missed"] - a["all"]["missed"])
        self.assertEqual([c["cpu"] for c in result["cpus"]], [int(CPU)])
        self.assertEqual(result["cpus"][0]["max"]["b_ns"], b["cpus"][0]["max_ns"])
        self.assertEqual(len(result["remarks"]), 2)
        self.assertIn("One run each", result["remarks"][0])
        self.assertIn("ran for different times", result["remarks"][1])
        self.assertEqual(result["settings"],
                         [{"key": "duration_ns", "a": 150000000, "b": 300000000}])

    def test_surroundings_that_differ(self):
        self.measure()
        self.measure()
        with sqlite3.connect(self.store) as db:
            db.execute("UPDATE session SET environment = json_remove(json_set(environment, "
                       "'$.kernel_release', '9.9-b', '$.new_fact', 7), '$.kernel_version') "
                       "WHERE number = 2")
        db.close()
        differ = {d["key"]: d for d in self.document("compare", "last~1", "last")["environment"]}
        self.assertEqual(differ["kernel_release"]["a"], os.uname().release)
        self.assertEqual(differ["kernel_release"]["b"], "9.9-b")
        self.assertEqual(differ["new_fact"], {"key": "new_fact", "a": None, "b": 7})
        self.assertIsNone(differ["kernel_version"]["b"])
        self.assertNotIn("unknown", differ)
        text = self.run_on("compare", "last~1", "last")
        self.assertRegex(text, r"(?s)Surroundings that differ.*kernel_release.*9\.9-b")
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_a_session_against_itself(self):
        self.measure()
        text = self.run_on("compare", "last", "last")
        self.assertIn("The settings are the same.", text)
        self.assertIn("The recorded surroundings are the same.", text)
        self.assertIn("One run each says little", text)
        self.assertNotIn("different times", text)

    def test_what_is_not_comparable_gets_no_differences(self):
        self.measure()
        self.measure("--source", "timerfd", "--interval", "2ms")
        result = self.document("compare", "last~1", "last")
        self.assertFalse(result["comparable"])
        self.assertEqual(result["reasons"], ["source timer against timerfd",
                                             "interval 1ms against 2ms"])
        for figure in result["figures"] + [result["cpus"][0]["max"]]:
            self.assertIsNone(figure.get("difference_ns", figure.get("difference")))
            self.assertIsNone(figure["percent"])
        self.assertIsNotNone(result["figures"][0]["a_ns"])
        text = self.run_on("compare", "last~1", "last")
        self.assertIn("Not comparable: source timer against timerfd", text)
        self.assertNotIn("One run each", text)

    def test_needs_two(self):
        self.measure()
        self.run_on("compare", status=2)
        self.run_on("compare", "last", status=2)
        self.assertIn("holds 1", self.run_on("compare", "last~1", "last", status=2))


class Obstacles(Stored):
    COMMANDS = (("history",), ("show",), ("compare", "last", "last"))

    def test_nothing_stored(self):
        for command in self.COMMANDS:
            self.assertIn("run punctual measure first", self.run_on(*command, status=5))
        self.assertEqual(os.listdir(self.folder), [])

    def test_foreign_and_damaged_files(self):
        with open(self.store, "wb") as file:
            file.write(b"not a store\n" * 1000)
        for command in self.COMMANDS:
            self.assertIn(self.store, self.run_on(*command, status=2))
        os.unlink(self.store)
        db = sqlite3.connect(self.store)
        db.execute("CREATE TABLE mine (a)")
        db.commit()
        db.close()
        with open(self.store, "rb") as file:
            before = file.read()
        for command in self.COMMANDS:
            self.assertIn("another application", self.run_on(*command, status=2))
        done = punctual(*self.arguments("--duration", "50ms"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("another application", done.stderr)
        with open(self.store, "rb") as file:
            self.assertEqual(file.read(), before)

    def test_folder_in_its_place(self):
        os.mkdir(self.store)
        for command in self.COMMANDS:
            self.assertIn("is a folder", self.run_on(*command, status=4))

    @unittest.skipUnless(ROOT, "must be root to become somebody else")
    def test_not_permitted(self):
        self.measure()
        os.chmod(self.folder, 0o755)
        os.chmod(self.store, 0o600)
        for command in self.COMMANDS:
            self.assertIn("Permission denied",
                          self.run_on(*command, status=3, preexec_fn=as_nobody))
        os.chmod(self.store, 0o644)  # a folder where nothing can be written is no obstacle
        self.run_on("show", preexec_fn=as_nobody)

    @unittest.skipUnless(ROOT, "must be root to become somebody else")
    def test_home_that_cannot_be_written(self):
        environment = {**os.environ, "HOME": self.folder}
        environment.pop("XDG_STATE_HOME", None)
        os.chmod(self.folder, 0o755)
        done = punctual("measure", "--policy", "other", "--cpus", CPU, "--duration", "50ms",
                        env=environment, preexec_fn=as_nobody)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{self.folder}/.local", done.stderr)
        self.assertIn("Permission denied", done.stderr)
        done = punctual("history", env=environment, preexec_fn=as_nobody)
        self.assertEqual(done.returncode, 5, done.stderr)

    @unittest.skipUnless(ROOT, "must be root to become somebody else")
    def test_state_folder_of_a_user(self):
        environment = {**os.environ, "XDG_STATE_HOME": os.path.join(self.folder, "x", "state")}
        os.chmod(self.folder, 0o777)
        done = punctual("measure", "--policy", "other", "--cpus", CPU, "--duration", "50ms",
                        env=environment, preexec_fn=as_nobody)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.store = os.path.join(self.folder, "x/state/punctual/sessions.db")
        self.assertEqual(len(self.document("history")["sessions"]), 1)
        self.assertEqual(os.stat(os.path.dirname(self.store)).st_mode & 0o7777, 0o700)


def small_files():
    """For preexec_fn: no room for more than a few batches, as far as this process can tell."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))


class Mishaps(Stored):
    def start(self, *more):
        return subprocess.Popen([PUNCTUAL, *self.arguments("--quiet", *more)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_for_batch(self):
        """Until an open session with windows is in the store: a condition, with a limit."""
        limit = time.monotonic() + 40
        while time.monotonic() < limit:
            done = punctual("show", "--json", "--store", self.store)
            if done.returncode == 0:
                session = json.loads(done.stdout)
                if session["cpus"][0]["windows"]:
                    return session
            time.sleep(0.2)
        raise AssertionError("no batch was written")

    def test_kill_9_keeps_what_was_written(self):
        process = self.start("--duration", "10m", "--window", "100ms")
        try:
            seen = self.wait_for_batch()
        finally:
            process.kill()
            process.communicate()
        self.assertFalse(seen["complete"])
        session = self.document("show")
        self.assertEqual(session["id"], seen["id"])
        self.assertFalse(session["complete"])
        cpu = session["cpus"][0]
        self.assertEqual(cpu["end"], "running")
        self.assertGreaterEqual(cpu["samples"], seen["cpus"][0]["samples"])
        self.assertGreaterEqual(cpu["samples"], sum(w["count"] for w in cpu["windows"]))
        self.assertEqual(session["environment"]["kernel_release"], os.uname().release)
        entry = self.document("history")["sessions"][0]
        self.assertFalse(entry["ended"])
        self.assertEqual(entry["max_ns"], session["all"]["max_ns"])
        self.assertIn(" open\n", self.run_on("history"))
        # and the next run finds the store in order
        after = self.measure()
        self.assertEqual(self.document("show"), after)
        self.assertEqual(self.document("show", "last~1")["id"], session["id"])

    def test_two_runs_share_the_store(self):
        runs = [self.start("--duration", "1s", "--window", "20ms") for _ in range(2)]
        for process in runs:
            _, errors = process.communicate(timeout=50)
            self.assertEqual(process.returncode, 0)
            self.assertEqual(errors, b"")
        sessions = self.document("history")["sessions"]
        self.assertEqual(len(sessions), 2)
        for entry in sessions:
            self.assertTrue(entry["ended"])
            session = self.document("show", entry["id"])
            self.assertTrue(session["complete"])
            self.assertEqual(session["all"]["samples"], entry["samples"])

    def test_full_disk_stops_the_store_and_not_the_measurement(self):
        first = self.measure()
        done = punctual(*self.arguments("--duration", "8s", "--window", "10ms", "--json"),
                        preexec_fn=small_files, restore_signals=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        measured = json.loads(done.stdout)
        self.assertGreater(measured["all"]["samples"], 0)
        self.assertIn("no room for the store", done.stderr)
        self.assertIn(self.store, done.stderr)
        self.assertEqual(self.document("show", first["id"]), first)


if __name__ == "__main__":
    unittest.main()
