# SPDX-License-Identifier: GPL-2.0-or-later
"""What the shape says, right and wrong, over some hundred simulated runs of each kind (minutes).

Compiles shape_rates.c with the C compiler ($CC, else cc). RUNS in the environment sets how many.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent / "src"
RUNS = int(os.environ.get("RUNS", "300"))


def rates():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "shape_rates")
        stat = sorted(map(str, (SOURCE / "stat").glob("*.c")))
        compiler = os.environ.get("CC", "cc").split()
        subprocess.run(compiler + ["-std=gnu17", "-D_GNU_SOURCE", "-O2", "-I", str(SOURCE), "-o", program,
                                   str(HERE / "shape_rates.c"), *stat, "-lm"], check=True)
        text = subprocess.run([program, str(RUNS)], check=True, capture_output=True, text=True).stdout
    print(text)
    rows = {}
    for line in text.splitlines():
        name, runs, _found, right, wrong, _slowest = line.split()
        rows[name] = (int(right) / int(runs), int(wrong) / int(runs))
    return rows


@unittest.skipUnless(shutil.which(os.environ.get("CC", "cc").split()[0]), "needs a C compiler")
class Rates(unittest.TestCase):
    """The limits leave room for chance at 300 runs; the aims are 1 % wrong and 95 % found."""

    @classmethod
    def setUpClass(cls):
        cls.rows = rates()

    def test_nothing_is_found_in_noise(self):
        nulls = {name: wrong for name, (_, wrong) in self.rows.items() if "-null" in name}
        self.assertGreater(len(nulls), 15)
        for name, wrong in nulls.items():
            with self.subTest(name):
                self.assertLessEqual(wrong, 0.025)

    def test_what_is_planted_is_found(self):
        planted = {name: row for name, row in self.rows.items() if "-null" not in name}
        self.assertGreater(len(planted), 15)
        for name, (right, _) in planted.items():
            with self.subTest(name):
                self.assertGreaterEqual(right, 0.95)


if __name__ == "__main__":
    unittest.main()
