#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The frame around the commands: help, wrong usage, streams, completion, manual pages."""

import errno
import os
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
PUNCTUAL = os.environ.get("PUNCTUAL", str(SOURCE / "build/punctual"))
COMMANDS = (SOURCE / "src/cmd/commands.list").read_text().split()


def run(*words, **kwargs):
    return subprocess.run([PUNCTUAL, *words], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, **kwargs)


def options_of(command):
    """The long options that a command's help shows."""
    return set(re.findall(r"^  (?:-\w, )?--([\w-]+)", run("help", command).stdout, re.M))


class Overview(unittest.TestCase):
    def test_no_arguments(self):
        result = run()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        for name in COMMANDS:
            self.assertRegex(result.stdout, rf"(?m)^  {name} +\w")
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)

    def test_same_by_help(self):
        for words in (["help"], ["--help"], ["-h"]):
            result = run(*words)
            self.assertEqual(result.returncode, 0)
            self.assertEqual(result.stdout, run().stdout, words)

    def test_version(self):
        result = run("--version")
        self.assertEqual(result.returncode, 0)
        declared = re.search(r"version: '([\d.]+)'", (SOURCE / "meson.build").read_text()).group(1)
        self.assertEqual(result.stdout, f"punctual {declared}\n")

    def test_changelog_has_the_version(self):
        version = run("--version").stdout.split()[1]
        self.assertIn(f"## {version}", (SOURCE / "CHANGELOG.md").read_text())


class Help(unittest.TestCase):
    def test_each_command_by_both_ways(self):
        for name in COMMANDS:
            with self.subTest(command=name):
                first, second = run("help", name), run(name, "--help")
                self.assertEqual((first.returncode, second.returncode), (0, 0), second.stderr)
                self.assertEqual(first.stdout, second.stdout)
                self.assertEqual(first.stderr + second.stderr, "")

    def test_examples_come_first(self):
        for name in COMMANDS:
            with self.subTest(command=name):
                text = run("help", name).stdout
                self.assertTrue(text.startswith(f"punctual {name}: "))
                example = re.search(r"^  \S.*\n      \S", text, re.M)
                self.assertTrue(example, text)
                self.assertLess(example.start(), text.index("\nUsage: "))

    def test_fits_the_terminal(self):
        for name in COMMANDS:
            with self.subTest(command=name):
                for line in run("help", name).stdout.splitlines()[1:]:
                    self.assertLessEqual(len(line), 80, line)

    def test_examples_name_real_options(self):
        for name in COMMANDS:
            with self.subTest(command=name):
                examples = run("help", name).stdout.split("\nUsage: ")[0]
                for line in examples.splitlines():
                    if re.match(rf"  punctual {name}\b", line):
                        for option in re.findall(r" --([\w-]+)", line):
                            self.assertIn(option, options_of(name), line)

    def test_help_of_unknown_command(self):
        result = run("help", "mesure")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        self.assertIn("measure", result.stderr)


class WrongUsage(unittest.TestCase):
    def assert_refused(self, words, *says):
        result = run(*words)
        self.assertEqual(result.returncode, 2, (words, result.stderr))
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for text in says:
            self.assertIn(text, result.stderr)

    def test_unknown_command(self):
        self.assert_refused(["topolgy"], "'topolgy'", "'topology'")
        self.assert_refused(["xyzzy"], "'xyzzy'", "punctual help")
        self.assert_refused([""], "''")
        self.assert_refused(["--frobnicate"], "--frobnicate")
        self.assert_refused(["a\nb\x1b[2J"], "?")

    def test_unknown_option_of_each_command(self):
        for name in COMMANDS:
            with self.subTest(command=name):
                self.assert_refused([name, "--zzzzzzzzzz"], f"punctual {name}: ", "--zzzzzzzzzz")

    def test_nearest_option(self):
        for name in COMMANDS:
            for option in sorted(options_of(name)):
                if len(option) < 4:
                    continue
                with self.subTest(command=name, option=option):
                    typo = option[:-2] + option[-1] + option[-2] + "x"
                    result = run(name, f"--{typo}")
                    self.assertEqual(result.returncode, 2)
                    self.assertRegex(result.stderr, r"did you mean --[\w-]+\?")

    def test_wrong_shell(self):
        self.assert_refused(["completion", "fish"], "'fish'", "bash or zsh")
        self.assert_refused(["completion"], "bash|zsh")
        self.assert_refused(["completion", "bash", "zsh"], "'zsh'")


class Streams(unittest.TestCase):
    def outputs(self):
        return [[], ["help"], ["--version"], ["help", "measure"], ["measure", "--help"],
                ["completion", "bash"], ["completion", "zsh"], ["topology"], ["topology", "--json"]]

    def test_reader_goes_away(self):
        """As in "punctual … | head -0": an error, no message, no signal's death."""
        for words in self.outputs():
            with self.subTest(words=words):
                read_end, write_end = os.pipe()
                os.close(read_end)
                process = subprocess.run([PUNCTUAL, *words], stdout=write_end,
                                         stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                         check=False)
                os.close(write_end)
                self.assertEqual(process.returncode, 4)
                self.assertEqual(process.stderr, b"")

    def test_stdout_closed(self):
        for words in self.outputs():
            with self.subTest(words=words):
                process = subprocess.run(
                    ["sh", "-c", 'exec "$0" "$@" >&-', PUNCTUAL, *words], check=False,
                    stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                self.assertEqual(process.returncode, 4, process.stderr)

    def test_disk_full(self):
        for words in self.outputs():
            with self.subTest(words=words):
                with open("/dev/full", "wb") as full:
                    process = subprocess.run([PUNCTUAL, *words], stdout=full, check=False,
                                             stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                             text=True)
                self.assertEqual(process.returncode, 4)
                self.assertIn(os.strerror(errno.ENOSPC), process.stderr)

    def test_output_file_appears_whole_or_not_at_all(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "script"
            result = run("completion", "bash", "--output", str(path))
            self.assertEqual((result.returncode, result.stdout), (0, ""))
            self.assertEqual(path.read_text(), run("completion", "bash").stdout)
            self.assertEqual(os.listdir(folder), ["script"])
            result = run("completion", "bash", "--output", folder + "/missing/script")
            self.assertEqual(result.returncode, 4)
            self.assertIn("/missing/script", result.stderr)


class Terminal:
    """A shell on a pseudo terminal, driven by what it prints and never by waiting."""

    def __init__(self, command, env):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execvpe(command[0], command, env)
        self.text = ""

    def send(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern, limit=20):
        """Reads until PATTERN has come; the match. What was read up to there is used up."""
        deadline = time.monotonic() + limit
        while not (match := re.search(pattern, self.text)):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"{pattern!r} did not come; there was {self.text!r}")
            try:
                data = os.read(self.fd, 65536)
            except OSError as error:
                raise AssertionError(f"the shell ended; there was {self.text!r}") from error
            self.text += re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]", b"", data).decode(
                "utf-8", "replace")
        self.text = self.text[match.end():]
        return match

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


class Completion(unittest.TestCase):
    """What TAB makes of a line, in real shells. The word "punctual" is a function that shows its
    arguments, so what was completed is what the shell itself understood."""

    ROWS = [
        ("topol\t", ["topology"]),
        ("measure --dur\t10s", ["measure", "--duration", "10s"]),
        ("topology --js\t", ["topology", "--json"]),
        ("measure --source timerf\t", ["measure", "--source", "timerfd"]),
        ("measure --policy=fi\t", ["measure", "--policy", "fifo"]),
        ("measure --cpus hou\t", ["measure", "--cpus", "housekeeping"]),
        ("topology --sysroot onlyd\t", ["topology", "--sysroot", "onlydir"]),
        ("topology --output onlyf\t", ["topology", "--output", "onlyfile"]),
        ("completion z\t", ["completion", "zsh"]),
        ("help meas\t", ["help", "measure"]),
    ]

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        (Path(self.folder.name) / "onlydir").mkdir()
        (Path(self.folder.name) / "onlyfile").write_text("")
        self.env = {"HOME": self.folder.name, "PATH": os.environ["PATH"], "TERM": "dumb",
                    "LC_ALL": "C.UTF-8", "PS1": "", "HISTFILE": ""}

    def check_rows(self, terminal):
        self.addCleanup(terminal.close)
        for typed, wanted in self.ROWS:
            terminal.send(f"punctual {typed}\r")
            got = terminal.expect(r"ARGUMENTS<([^>]*)>").group(1).split("|")[:-1]
            # zsh ends a long option with "=", and takes a folder's last slash away: the same to us
            got = [part.rstrip("/") for word in got for part in word.strip().split("=")]
            self.assertEqual(got, wanted, repr(typed))

    def script(self, shell):
        path = Path(self.folder.name) / f"script.{shell}"
        result = run("completion", shell, "--output", str(path))
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def test_bash(self):
        if not shutil.which("bash"):
            self.skipTest("no bash")
        rc = Path(self.folder.name) / "rc"
        rc.write_text(f"cd {self.folder.name}\nPS1=\nbind 'set bell-style none'\n"
                      "punctual() { printf 'ARGUMENTS'; printf '<'; printf '%s|' \"$@\"; "
                      "printf '>\\n'; }\n"
                      f". {self.script('bash')}\nprintf 'rea'; printf 'dy\\n'\n")
        terminal = Terminal(["bash", "--rcfile", str(rc), "-i"], self.env)
        terminal.expect("ready")
        self.check_rows(terminal)

    def test_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("no zsh")
        (Path(self.folder.name) / ".zshrc").write_text(
            f"cd {self.folder.name}\nPS1=\nunsetopt beep\nautoload -Uz compinit\n"
            "compinit -u -d $HOME/dump\n"
            "punctual() { printf 'ARGUMENTS'; printf '<'; printf '%s|' \"$@\"; printf '>\\n'; }\n"
            f". {self.script('zsh')}\nprintf 'rea'; printf 'dy\\n'\n")
        terminal = Terminal(["zsh", "-i"], {**self.env, "ZDOTDIR": self.folder.name})
        terminal.expect("ready")
        self.check_rows(terminal)

    def test_scripts_are_accepted(self):
        for shell in ("bash", "zsh"):
            if not shutil.which(shell):
                self.skipTest(f"no {shell}")
            result = subprocess.run([shell, "-n", self.script(shell)], capture_output=True,
                                    text=True, check=False)
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_every_option_is_offered(self):
        bash, zsh = run("completion", "bash").stdout, run("completion", "zsh").stdout
        for name in COMMANDS:
            row = re.search(rf"^\t{name}\) .*$", bash, re.M).group(0)
            block = re.search(rf"^\t\t{name}\)\n(?:\t\t\t.*\n)*", zsh, re.M).group(0)
            for option in options_of(name):
                with self.subTest(command=name, option=option):
                    self.assertIn(f"--{option} ", row)
                    self.assertRegex(block, rf"--{option}(=-?)?\[")


class Manual(unittest.TestCase):
    def setUp(self):
        if not shutil.which("scdoc"):
            self.skipTest("no scdoc")

    def page(self, name, folder):
        path = Path(folder) / f"{name}.1"
        result = subprocess.run(
            [SOURCE / "scripts/man.sh", PUNCTUAL, "scdoc", SOURCE / f"docs/man/{name}.1.scd", path],
            capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""), name)
        return path

    def test_pages_build_and_hold_every_option(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in COMMANDS:
                with self.subTest(command=name):
                    text = self.page(f"punctual-{name}", folder).read_text().replace("\\-", "-")
                    self.assertNotRegex(text, r"@[A-Z]+@")
                    for option in options_of(name):
                        self.assertIn(f"--{option}", text)

    def test_overview_holds_every_command(self):
        with tempfile.TemporaryDirectory() as folder:
            text = self.page("punctual", folder).read_text().replace("\\-", "-")
            self.assertNotRegex(text, r"@[A-Z]+@")
            for name in COMMANDS:
                self.assertIn(f"punctual-{name}", text)

    def test_troff_has_no_complaints(self):
        if not shutil.which("groff"):
            self.skipTest("no groff")
        with tempfile.TemporaryDirectory() as folder:
            for name in ["punctual", *(f"punctual-{n}" for n in COMMANDS)]:
                with self.subTest(page=name):
                    result = subprocess.run(
                        ["groff", "-man", "-Tutf8", "-ww", "-z", self.page(name, folder)],
                        capture_output=True, text=True, check=False)
                    self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
