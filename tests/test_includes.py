#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the sources to the map: who may include whom, and what the pure parts may call."""

import os
import re
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
SRC = SOURCE / "src"
BUILD = Path(os.environ.get("PUNCTUAL_BUILD", SOURCE / "build"))

# Includes point down only; parts of one level never include each other.
LEVELS = [
    ["base"],
    ["sys"],
    ["board", "stat"],
    ["result"],
    ["probe", "trace", "blame", "audit", "tune", "load", "store", "watch", "format"],
    ["trial"],
    ["cmd"],
    ["."],
]
LEVEL = {part: number for number, level in enumerate(LEVELS) for part in level}

# Made by Meson from the .list files.
GENERATED = {"commands.inc", "sources.inc"}

PURE = ["base", "stat", "result", "blame", "audit"]
# Readers of a board's facts: nothing but through struct root.
THROUGH_ROOT = ["board"]

IMPURE = """abort creat exit _exit _Exit execv execve execvp fclose fdopen fopen fork fprintf fputc
    fputs freopen fwrite getchar ioctl mkdir mmap open open64 openat openat64 opendir perror pipe
    posix_spawn printf putc putchar puts quick_exit read recv remove rename rmdir scanf send socket
    stat syscall syslog unlink vfprintf vprintf write""".split()
# In no part at all: a shell is never run, and what can write beyond a buffer is never used.
FORBIDDEN = """atof atoi atol atoll gets mktemp popen sprintf stpcpy strcat strcpy system tempnam
    tmpnam vsprintf wordexp""".split()

LINES_MAX = 700


def code_of(text):
    """TEXT without comments and without what is in quotes; line numbers stay."""
    def blank(match):
        piece = match.group(0)
        if piece[0] == "/":
            return "\n" * piece.count("\n")
        return piece[0] * 2

    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text,
                  flags=re.S)


def calls(text, names):
    """(line, name) of each call of one of NAMES; members of a struct are not functions."""
    pattern = re.compile(r"(?<![\w.])(?<!->)(" + "|".join(names) + r")\s*\(")
    code = code_of(text)
    # a declaration of a struct's member, "int (*write)(…", has its name before ")("
    return [(code.count("\n", 0, m.start()) + 1, m.group(1)) for m in pattern.finditer(code)]


def part_of(path):
    return path.relative_to(SRC).parts[0] if path.parent != SRC else "."


def sources():
    return sorted(p for p in SRC.rglob("*.[ch]"))


def allowed(source, target):
    """Whether a file of part SOURCE may include one of part TARGET."""
    return source == target or LEVEL[target] < LEVEL[source]


class Includes(unittest.TestCase):
    def test_parts_are_on_the_map(self):
        unknown = {part_of(p) for p in sources()} - set(LEVEL)
        self.assertFalse(unknown, "folders in src that the table of levels does not have")

    def test_point_down_only(self):
        wrong = []
        for path in sources():
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
                if not match or match.group(1) in GENERATED:
                    continue
                name = match.group(1)
                where = f"{path.relative_to(SOURCE)}:{number}: {name}"
                if not (SRC / name).is_file():
                    wrong.append(f"{where}: not a path below src")
                elif not allowed(part_of(path), part_of(SRC / name)):
                    wrong.append(f"{where}: {part_of(path)} must not include {part_of(SRC / name)}")
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_the_check_itself(self):
        self.assertTrue(allowed("cmd", "base"))
        self.assertTrue(allowed("stat", "stat"))
        self.assertFalse(allowed("base", "sys"))
        self.assertFalse(allowed("store", "format"))
        self.assertFalse(allowed("stat", "board"))
        text = '/* open( */ x->read(1); y.write(2); "exit("; // abort(\nfdopen (3); reopen(4);'
        self.assertEqual(calls(text, IMPURE), [(2, "fdopen")])


class Calls(unittest.TestCase):
    def refuse(self, paths, names):
        wrong = [f"{p.relative_to(SOURCE)}:{line}: {name}()"
                 for p in paths for line, name in calls(p.read_text(), names)]
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_pure_parts_only_compute(self):
        self.refuse([p for p in sources() if part_of(p) in PURE + THROUGH_ROOT], IMPURE)

    def test_forbidden_nowhere(self):
        self.refuse(sources(), FORBIDDEN)

    def test_only_sys_opens_files(self):
        opening = [n for n in IMPURE if re.match("f?d?open|creat|freopen|opendir|socket", n)]
        # SQLite opens its own; the store makes the folder that it stands in
        self.refuse([p for p in sources() if part_of(p) not in ("sys", "store")], opening)

    def test_objects_of_pure_parts(self):
        """The same, asked of the compiler's output: no macro or inline function hides a call."""
        library = BUILD / "src/libcore.a"
        if not library.exists():
            self.skipTest(f"{library} is not built")
        listing = subprocess.run(["nm", "-A", "--undefined-only", library], check=True,
                                 capture_output=True, text=True).stdout
        impure = set(IMPURE) | {f"__{name}_chk" for name in IMPURE} | {"stdout", "stderr", "stdin"}
        wrong, seen = [], 0
        for line in listing.splitlines():
            match = re.search(r"[:/]([a-z]+)_\w+\.c\.o:\s+U (\w+)$", line)
            if match and match.group(1) in PURE:
                seen += 1
                if match.group(2) in impure:
                    wrong.append(line.split(":", 1)[1])
        self.assertGreater(seen, 20, "nm's output was not understood")
        self.assertFalse(wrong, "\n" + "\n".join(wrong))


class Files(unittest.TestCase):
    def test_headers_compile_alone(self):
        headers = [p for p in sources() if p.suffix == ".h"]

        def check(header):
            with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
                file.write(f'#include "{header.relative_to(SRC)}"\n' * 2)
                file.flush()
                return subprocess.run(
                    ["cc", "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror",
                     "-fsyntax-only", "-I", SRC, file.name],
                    capture_output=True, text=True, check=False).stderr

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            errors = [text for text in pool.map(check, headers) if text]
        self.assertTrue(headers)
        self.assertFalse(errors, "\n" + "\n".join(errors))

    def test_length(self):
        long = [f"{p.relative_to(SOURCE)}: {n} lines" for p in sources()
                if (n := p.read_text().count("\n")) > LINES_MAX]
        self.assertFalse(long, f"files over {LINES_MAX} lines: what is the second subject?")

    def test_license_line(self):
        paths = [*sources(), *SOURCE.glob("tests/**/*.[ch]"), *SOURCE.glob("tests/**/*.py"),
                 *SOURCE.glob("bench/*.[chpy]*"), *SOURCE.glob("scripts/**/*.sh"),
                 *SOURCE.rglob("meson.build"), SOURCE / "Makefile", SOURCE / ".ci/run"]
        paths = [p for p in paths if not p.relative_to(SOURCE).parts[0].startswith("build")]
        lacking = [str(p.relative_to(SOURCE)) for p in paths
                   if "SPDX-License-Identifier: GPL-2.0-or-later" not in
                   "\n".join(p.read_text().splitlines()[:2])]
        self.assertFalse(lacking, "no SPDX line in the first two lines")

    def test_lists_and_files_agree(self):
        for listed, pattern in (("cmd/commands.list", "cmd/{}.c"),
                                ("probe/sources.list", "probe/source_{}.c")):
            for line in (SRC / listed).read_text().splitlines():
                name = line.split(":")[0].strip()
                self.assertTrue((SRC / pattern.format(name)).is_file(), f"{name} of {listed}")
        units = set((SOURCE / "tests/unit/units.list").read_text().split())
        files = {p.stem.removeprefix("test_") for p in SOURCE.glob("tests/unit/test_*.c")}
        self.assertEqual(units, files, "tests/unit/units.list and the files beside it")

    def test_every_command_has_a_manual_page(self):
        for name in (SRC / "cmd/commands.list").read_text().split():
            page = SOURCE / f"docs/man/punctual-{name}.1.scd"
            self.assertTrue(page.is_file(), page)
            for marker in ("@SYNOPSIS@", "@EXAMPLES@", "@OPTIONS@"):
                self.assertIn(f"\n{marker}\n", page.read_text(), page)
        overview = (SOURCE / "docs/man/punctual.1.scd").read_text()
        self.assertIn("\n@COMMANDS@\n", overview)


if __name__ == "__main__":
    unittest.main()
