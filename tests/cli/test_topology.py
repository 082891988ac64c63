#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""punctual topology: golden pictures of composed boards, hostile trees, and, where recorded boards are
at hand, counts beside those of util-linux's lscpu.

PUNCTUAL_BOARDS is the folder of recorded boards (NAME.tar.zst, each with proc and sys); by default
boards in the folder "shared" beside the repository. PUNCTUAL_GOLDEN=write rewrites the golden files.
"""
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
PUNCTUAL = os.environ.get("PUNCTUAL", str(SOURCE / "build/punctual"))
BOARDS = Path(os.environ.get("PUNCTUAL_BOARDS", SOURCE.parent / "shared" / "boards"))
GOLDEN = SOURCE / "tests/golden"
CPU = "sys/devices/system/cpu"

sys.path.insert(0, str(SOURCE / "tests/boards"))
import make_board  # noqa: E402  pylint: disable=wrong-import-position

# Where lscpu is wrong or has no answer, and what is right: board → {what: (number, reason)}.
EXCEPTIONS = {
    "lscpu-arm-A510-A710-A715-X3": {
        "cores": (8, "lscpu counts cores anew for each model, and so gives numbers twice"),
        "packages": (3, "as physical_package_id says: before 5.19 the kernel numbered clusters so"),
        "caches": (24, "lscpu lists no caches whose size is not told"),
    },
    "lscpu-rv64-visionfive2": {
        "cores": (4, "lscpu finds no model in RISC-V's cpuinfo and then skips the topology"),
        "packages": (1, "the same"),
        "caches": (9, "the same: two level 1 caches in each of four cores, one level 2"),
    },
    "lscpu-ppc-qemu": {
        "caches": (2, "lscpu lists no caches whose size is not told"),
    },
    "hwloc-5intel64-hybrid-lakefield": {
        "caches": (13, "lscpu tells caches apart by id, and here CPUs 2 and 4 have the same"),
    },
    "hwloc-8em64t-2s4c-asymcaches": {
        "caches": (13, "lscpu stops at the first missing index; CPUs 1 and 5 have index2 alone"),
    },
}
# Boards of which lscpu reads nothing, as there is no list of possible CPUs: (CPUs, cores, packages,
# caches, NUMA nodes), counted by hand; None is what the tree does not tell.
BY_HAND = {
    "hwloc-fakeheterocpunuma": (24, 12, 2, 0, 6),
    "node_exporter": (4, 4, 2, 0, 3),
    "prometheus-procfs": (3, 3, 1, 0, 2),
    "sep4020-arm7-up": (1, None, None, 0, 0),
    "sysstat-root1": (9, None, 1, 0, 0),
    "sysstat-root2": (9, None, 3, 0, 0),
    "sysstat-root3": (9, None, 1, 0, 0),
}


def run(*words, **kwargs):
    return subprocess.run([PUNCTUAL, "topology", *map(str, words)], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=20, **kwargs)


def document(tree):
    """The JSON of a tree; fails with what was said on stderr."""
    result = run("--sysroot", tree, "--json")
    if result.returncode:
        raise AssertionError(f"{tree}: exit {result.returncode}: {result.stderr.decode()}")
    return json.loads(result.stdout)


@functools.cache
def server_tree():
    """The board "server": thousands of files, and so composed once for all tests that only read it."""
    folder = tempfile.mkdtemp(prefix="punctual-server-")
    unittest.addModuleCleanup(shutil.rmtree, folder)
    make_board.server(folder)
    return folder


def numbers_of(text):
    """The CPU numbers of a kernel list."""
    numbers = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="punctual-topology-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.tree = self.folder / "tree"
        self.tree.mkdir()

    def board(self, name):
        make_board.BOARDS[name](str(self.tree))
        return self.tree

    def put(self, path, content):
        make_board.write(str(self.tree), path, content)


class Pictures(Tree):
    def compare(self, name, content):
        path = GOLDEN / name
        if os.environ.get("PUNCTUAL_GOLDEN") == "write":
            path.write_bytes(content)
        self.assertTrue(path.exists(), f"{name}: made with PUNCTUAL_GOLDEN=write")
        self.assertMultiLineEqual(content.decode(), path.read_text(), name)


def picture_test(name):
    def test(self):
        tree = server_tree() if name == "server" else self.board(name)
        text = run("--sysroot", tree)
        self.assertEqual((text.returncode, text.stderr), (0, b""))
        self.compare(f"topology-{name}.txt", text.stdout)
        self.assertLess(max(len(line) for line in text.stdout.decode().splitlines()), 80)
        self.assertEqual([line for line in text.stdout.decode().splitlines()
                          if line != line.rstrip()], [])
        if name != "server":
            self.compare(f"topology-{name}.json", run("--sysroot", tree, "--json").stdout)
    return test


for board_name in make_board.BOARDS:
    setattr(Pictures, f"test_{board_name.replace('-', '_')}", picture_test(board_name))


class Views(Tree):
    def test_verbose_has_a_line_a_cpu(self):
        plain = run("--sysroot", server_tree()).stdout.decode()
        verbose = run("--sysroot", server_tree(), "--verbose").stdout.decode()
        self.assertLess(plain.count("\n"), 40)
        for cpu in range(128):
            self.assertRegex(verbose, rf"(?m)^    CPU {cpu} ")

    def test_output_file(self):
        self.board("big-little")
        target = self.folder / "out.json"
        result = run("--sysroot", self.tree, "--json", "--output", target)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b""))
        self.assertEqual(json.loads(target.read_text())["schema"], "punctual/topology/1")

    def test_every_key_is_there(self):
        self.board("uniprocessor")
        found = document(self.tree)
        self.assertEqual(found["cpus"], [{
            "cpu": 0, "online": True, "present": True, "package": None, "die": None,
            "cluster": None, "core": None, "smt_siblings": None, "capacity": None,
            "model": "ARM720T", "revision": "r0p2", "kind": None, "max_freq_khz": None,
            "freq_domain": None, "isolated": None, "nohz_full": None, "numa": None}])
        for key in ("possible", "isolated", "nohz_full", "devicetree"):
            self.assertIsNone(found[key], key)
        for key in ("caches", "idle_states", "freq_domains", "numa", "odd"):
            self.assertEqual(found[key], [], key)

    def test_this_machine(self):
        result = run("--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        found = json.loads(result.stdout)
        self.assertEqual(sorted(c["cpu"] for c in found["cpus"] if c["online"]),
                         numbers_of(Path(f"/{CPU}/online").read_text().strip()))
        self.assertEqual(found["board"]["kernel"], os.uname().release)

    def test_large_board(self):
        make_board.server(str(self.tree), 200, threads=1)
        found = document(self.tree)
        self.assertEqual(found["counts"]["cores"], 200)
        self.assertEqual(len(found["caches"]), 3 * 200 + 2)
        self.assertEqual(len(found["freq_domains"]), 200)
        self.assertEqual({c["numa"] for c in found["cpus"]}, {0, 1})
        self.assertEqual([s["cpus"] for s in found["idle_states"]], ["0-199"] * 3)


class Usage(Tree):
    def refused(self, *words):
        result = run(*words)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stdout, b"")
        self.assertEqual(result.stderr.count(b"\n"), 1, result.stderr)
        return result.stderr.decode()

    def test_wrong_words(self):
        self.assertIn("sysrot", self.refused("--sysrot", "x"))
        self.assertIn("--sysroot", self.refused("--sysrot", "x"))
        self.assertIn("what", self.refused("what"))
        self.refused("--sysroot")
        self.assertIn("nowhere", self.refused("--sysroot", self.folder / "nowhere"))

    def test_tree_without_cpus(self):
        message = self.refused("--sysroot", self.tree)
        for looked_for in ("sys/devices/system/cpu", "proc/cpuinfo", "proc/stat"):
            self.assertIn(looked_for, message)

    def test_help(self):
        result = run("--help")
        self.assertEqual(result.returncode, 0)
        self.assertLess(result.stdout.index(b"punctual topology --sysroot"),
                        result.stdout.index(b"Usage"))

    def test_nobody_reads(self):
        reader, writer = os.pipe()
        os.close(reader)
        result = subprocess.run([PUNCTUAL, "topology", "--sysroot", server_tree(), "--verbose"],
                                stdout=writer, stderr=subprocess.PIPE, check=False, timeout=20)
        os.close(writer)
        self.assertEqual((result.returncode, result.stderr), (4, b""))

    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([PUNCTUAL, "topology", "--sysroot", server_tree()], stdout=full,
                                    stderr=subprocess.PIPE, check=False, timeout=20)
        self.assertEqual(result.returncode, 4)
        self.assertIn(b"No space", result.stderr)


class Hostile(Tree):
    """Trees that lie: never a crash, a hang, a way out of the tree, or a number that is not there."""

    def setUp(self):
        super().setUp()
        self.put(f"{CPU}/present", "0-1")
        self.put(f"{CPU}/online", "0-1")
        for cpu in (0, 1):
            make_board.topology(str(self.tree), cpu, cpu, [cpu], 0, [0, 1])

    def replace(self, path):
        full = self.tree / path
        if full.is_dir():
            shutil.rmtree(full)
        elif full.exists():
            full.unlink()
        full.parent.mkdir(parents=True, exist_ok=True)
        return full

    def test_links_stay_inside(self):
        outside = self.folder / "secret"
        outside.write_text("777\n")
        for target in (outside, "../../../../../../../secret"):
            path = self.replace(f"{CPU}/cpu0/topology/core_id")
            path.symlink_to(target)
            self.assertIsNone(document(self.tree)["cpus"][0]["core"])
        model = self.replace("sys/class/dmi/id")
        (self.folder / "product_name").write_text("Outside\n")
        model.symlink_to(self.folder)
        self.assertIsNone(document(self.tree)["board"]["model"])

    def test_links_in_a_circle(self):
        self.replace(f"{CPU}/cpu0/topology/core_id").symlink_to("core_id")
        self.replace(f"{CPU}/cpu1/topology").symlink_to("../cpu1/topology")
        found = document(self.tree)["cpus"]
        self.assertIsNone(found[0]["core"])
        self.assertIsNone(found[1]["core"])

    def test_fifo_and_folder_in_place_of_files(self):
        for path in ("proc/cpuinfo", f"{CPU}/isolated", f"{CPU}/cpu0/topology/core_id"):
            os.mkfifo(self.replace(path))
        self.replace(f"{CPU}/cpu1/topology/core_id").mkdir()
        self.replace(f"{CPU}/nohz_full").mkdir()
        self.put("sys/devices/system/node", "a file in place of a folder")
        found = document(self.tree)
        self.assertIsNone(found["isolated"])
        self.assertIsNone(found["nohz_full"])
        self.assertEqual([c["core"] for c in found["cpus"]], [None, None])
        self.assertEqual(found["numa"], [])

    def test_huge_files(self):
        for path in ("proc/cpuinfo", f"{CPU}/isolated", f"{CPU}/cpu0/topology/core_id",
                     f"{CPU}/cpu0/topology/core_siblings_list"):
            with open(self.replace(path), "wb") as file:
                file.truncate(1 << 33)
        found = document(self.tree)
        self.assertIsNone(found["isolated"])
        self.assertIsNone(found["cpus"][0]["core"])
        self.assertIsNone(found["cpus"][0]["model"])

    def test_bytes_that_are_no_text(self):
        self.put("proc/cpuinfo", b"processor\t: 0\nmodel name\t: a\x00b\x1b[31m\xff\n")
        self.put("proc/sys/kernel/osrelease", b"6.1\xff\xfe\x1b[2J\"\\\n")
        self.put("sys/class/dmi/id/product_name", b"\x00\x00\x00")
        self.put(f"{CPU}/cpu0/topology/core_id", b"7\n\x00\x00\x00")
        found = document(self.tree)
        self.assertEqual(found["cpus"][0]["core"], 7)  # as recorders pad files
        self.assertIsNone(found["board"]["model"])
        self.assertNotIn(b"\x1b", run("--sysroot", self.tree).stdout)

    def test_numbers_out_of_range(self):
        for name in ("cpu99999999", "cpu-1", "cpu8192", "cpu007", "cpu18446744073709551616"):
            self.put(f"{CPU}/{name}/online", 1)
            self.put(f"{CPU}/{name}/topology/core_id", 1)
        self.put(f"{CPU}/isolated", "0-99999999")
        self.put(f"{CPU}/cpufreq/policy99999999/scaling_governor", "performance")
        self.put(f"{CPU}/cpufreq/policy-1/scaling_governor", "performance")
        self.put("sys/devices/system/node/node99999999/cpulist", "0")
        for present in ("0-1", "0-99999999", "-1", "5-3"):
            self.put(f"{CPU}/present", present)
            found = document(self.tree)
            self.assertEqual([c["cpu"] for c in found["cpus"]], [0, 1], present)
            self.assertIsNone(found["isolated"])
            self.assertEqual(found["freq_domains"], [])
            self.assertEqual(found["numa"], [])

    def test_as_many_cpus_as_there_can_be(self):
        self.put(f"{CPU}/present", "0-8191")
        self.put(f"{CPU}/online", "0-8191")
        found = document(self.tree)
        self.assertEqual(len(found["cpus"]), 8192)
        self.assertLess(run("--sysroot", self.tree).stdout.count(b"\n"), 60)

    def test_device_tree_without_end(self):
        base = "sys/firmware/devicetree/base"
        self.put(f"{base}/model", make_board.text("Loop"))
        make_board.link(str(self.tree), f"{base}/cpus/cpu-map/cluster0", "..")
        make_board.link(str(self.tree), f"{base}/cpus/idle-states", ".")
        for number in range(40):
            self.put(f"{base}/cpus/cpu@{number}/reg", make_board.cells(number))
        found = document(self.tree)
        self.assertEqual(found["board"]["model"], "Loop")
        self.assertEqual(len(found["devicetree"]["cpus"]), 40)


def lscpu_counts(tree):
    """(CPUs, cores, packages, caches, NUMA nodes) as lscpu has them, or None."""
    def ask(*words):
        done = subprocess.run(["lscpu", "--sysroot", tree, *words], capture_output=True, text=True,
                              check=False, env={**os.environ, "LC_ALL": "C"})
        return done.stdout if done.returncode == 0 else None

    if ask() is None:
        return None
    rows = [line.split(",") for line in ask("-p=cpu,core,socket").splitlines() if line[0] != "#"]
    caches = 0
    text = ask("-B")
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.rstrip().endswith("cache") and "instance" in value:
            caches += int(value.split("(")[1].split()[0])
    nodes = [int(line.split(":")[1]) for line in text.splitlines() if line.startswith("NUMA node(s)")]
    return (len(rows), len({row[1] for row in rows}), len({row[2] for row in rows}), caches,
            nodes[0] if nodes else 0)


WHAT = ("cpus", "cores", "packages", "caches", "numa")


class Recorded(unittest.TestCase):
    def unpacked(self):
        """The recorded boards, one after the other, each unpacked into a folder of its own."""
        archives = sorted(BOARDS.glob("*.tar.zst"))
        if not archives:
            self.skipTest(f"no recorded boards in {BOARDS} (PUNCTUAL_BOARDS names another folder)")
        if not shutil.which("zstd"):
            self.skipTest("needs zstd to unpack the recorded boards")
        for archive in archives:
            with tempfile.TemporaryDirectory(prefix="punctual-board-") as folder:
                subprocess.run(["tar", "--zstd", "-C", folder, "-xf", archive], check=True)
                tree = Path(folder)
                if not (tree / "proc").exists() and not (tree / "sys").exists():
                    tree = next(tree.iterdir())
                yield archive.name.removesuffix(".tar.zst"), tree

    def expected(self, name, tree):
        numbers = BY_HAND.get(name) or lscpu_counts(tree)
        self.assertIsNotNone(numbers, f"{name}: lscpu can't read it; count by hand")
        right = {what: number for what, (number, _) in EXCEPTIONS.get(name, {}).items()}
        return {what: right.get(what, number) for what, number in zip(WHAT, numbers)}

    def test_counts(self):
        for name, tree in self.unpacked():
            with self.subTest(name):
                found = document(tree)
                counts = found["counts"]
                self.assertEqual({
                    "cpus": counts["online"], "cores": counts["cores"],
                    "packages": counts["packages"], "caches": len(found["caches"]),
                    "numa": len(found["numa"])}, self.expected(name, tree))

    def test_sane(self):
        for name, tree in self.unpacked():
            with self.subTest(name):
                found = document(tree)
                present = numbers_of(found["present"])
                self.assertEqual([c["cpu"] for c in found["cpus"]], present)
                for part in (*found["caches"], *found["freq_domains"], *found["idle_states"],
                             *found["numa"]):
                    self.assertLessEqual(set(numbers_of(part["cpus"] or "")), set(present))
                text = run("--sysroot", tree)
                self.assertEqual((text.returncode, text.stderr), (0, b""))
                self.assertLess(max(map(len, text.stdout.decode().splitlines())), 80)
                self.assertLess(text.stdout.count(b"\n"), 80)


if __name__ == "__main__":
    unittest.main()
