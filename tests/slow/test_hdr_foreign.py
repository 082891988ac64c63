# SPDX-License-Identifier: GPL-2.0-or-later
"""HdrHistogram's own reader (Java; Debian's libhdrhistogram-java) reads our log as we meant it.

Skips itself without java, its compiler, or the library. $PUNCTUAL is the program.
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

JAR = pathlib.Path("/usr/share/java/hdrhistogram.jar")
READER = """
import org.HdrHistogram.*;
public class Reader {
    public static void main(String[] names) throws Exception {
        HistogramLogReader reader = new HistogramLogReader(names[0]);
        EncodableHistogram read;
        while ((read = reader.nextIntervalHistogram()) != null) {
            Histogram histogram = (Histogram) read;
            System.out.print(histogram.getTag() + " " + histogram.getTotalCount()
                + " " + histogram.getStartTimeStamp() + " " + histogram.getEndTimeStamp());
            for (HistogramIterationValue value : histogram.recordedValues())
                System.out.print(" " + histogram.lowestEquivalentValue(value.getValueIteratedTo())
                    + ":" + value.getCountAtValueIteratedTo());
            System.out.println();
        }
    }
}
"""


@unittest.skipUnless(shutil.which("java") and shutil.which("javac") and JAR.exists(),
                     "needs a JDK and libhdrhistogram-java")
@unittest.skipUnless(os.environ.get("PUNCTUAL"), "needs $PUNCTUAL")
class Foreign(unittest.TestCase):
    def test_same_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "latency.hlog")
            reader = os.path.join(folder, "Reader.java")
            pathlib.Path(reader).write_text(READER)
            ours = subprocess.run([os.environ["PUNCTUAL"], "measure", "--duration", "2s", "--policy", "other",
                                   "--no-store", "--json", "--hdr", log], check=True, capture_output=True)
            theirs = subprocess.run(["java", "-cp", str(JAR), reader, log], check=True,
                                    capture_output=True, text=True).stdout
        session = json.loads(ours.stdout)
        lines = [line.split() for line in theirs.splitlines()]
        wanted = [("null", session["all"])] + [(f"cpu{cpu['cpu']}", cpu) for cpu in session["cpus"]]
        self.assertEqual(len(lines), len(wanted))
        for (tag, result), line in zip(wanted, lines):
            with self.subTest(tag):
                self.assertEqual(line[0], tag)
                self.assertEqual(int(line[1]), result["samples"])
                self.assertAlmostEqual(int(line[3]) - int(line[2]), session["duration_ns"] / 1e6, delta=1)
                counts = [tuple(map(int, row.split(":"))) for row in line[4:]]
                self.assertEqual(counts, [(low, count) for low, _high, count in result["histogram"]])


if __name__ == "__main__":
    unittest.main()
