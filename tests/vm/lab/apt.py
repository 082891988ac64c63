# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian packages, downloaded and unpacked beside the build and never installed.

An Archive is apt with a state of its own where need be: for another architecture, or for a newer
suite of the distribution. Sources and keys are the machine's own, so no mirror is named here and
the machine's list of architectures and packages does not change.
"""

import fcntl
import getpass
import json
import os
import re
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

LIMIT = 600  # seconds for one run of apt
INDEX_AGE = 7 * 86400  # a private index that is older is fetched again


class Unavailable(Exception):
    """What is wanted can't be had here, now; the text says why."""


@contextmanager
def locked(path):
    """Two runs at once share the cache: one prepares, the other waits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def call(command, **options):
    """The output of COMMAND; Unavailable with its last words where it fails."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=LIMIT, check=False, **options)
    except FileNotFoundError:
        raise Unavailable(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{' '.join(command[:3])}: over {LIMIT} s") from None
    if done.returncode:
        # debootstrap complains on the other stream
        both = [*done.stderr.splitlines(), *done.stdout.splitlines()]
        words = [line for line in both if line.startswith("E:")]
        last = (words or done.stderr.splitlines() or [f"status {done.returncode}"])[-1]
        raise Unavailable(f"{' '.join(command[:2])}: {last}")
    return done.stdout


class Archive:
    """apt for one architecture and suite ("" is what the machine itself uses)."""

    def __init__(self, cache, arch, suite=""):
        self.arch = arch
        self.suite = suite
        self.native = not suite and arch == native_arch()
        self.dir = cache / "apt" / "-".join(filter(None, (arch, suite)))
        self.debs = self.dir / "debs"
        self.unpacked = cache / "unpacked" / "-".join(filter(None, (arch, suite)))
        self._memory = None

    # --- apt itself ---

    def _environment(self):
        """apt's settings for this archive; writes its configuration where it has its own state."""
        lines = [f'APT::Sandbox::User "{getpass.getuser()}";']
        if not self.native:
            state = self.dir / "state"
            (state / "lists/partial").mkdir(parents=True, exist_ok=True)
            (self.dir / "cache/archives/partial").mkdir(parents=True, exist_ok=True)
            (self.dir / "status").touch()
            lines += [f'APT::Architecture "{self.arch}";',
                      f'APT::Architectures {{ "{self.arch}"; }};',
                      f'Dir::State "{state}";', f'Dir::State::status "{self.dir / "status"}";',
                      f'Dir::Cache "{self.dir / "cache"}";', 'Acquire::Languages "none";']
        if self.suite:
            parts = self.dir / "sources.d"
            parts.mkdir(exist_ok=True)
            (parts / "suite.sources").write_text(self._sources())
            lines += [f'Dir::Etc::sourceparts "{parts}";', 'Dir::Etc::sourcelist "/dev/null";']
        self.dir.mkdir(parents=True, exist_ok=True)
        conf = self.dir / "conf"
        conf.write_text("\n".join(lines) + "\n")
        return {**os.environ, "APT_CONFIG": str(conf), "LC_ALL": "C.UTF-8"}

    def _sources(self):
        """The machine's main source with another suite in its place."""
        stanzas = []
        for codename, entry in machine_sources():
            text = re.sub(r"^#.*\n", "", Path(entry).read_text(), flags=re.M)
            for stanza in re.split(r"\n\s*\n", text):
                suites = re.search(r"^Suites:(.*)$", stanza, re.M)
                if suites and codename in suites.group(1).split():
                    stanzas.append(stanza.replace(suites.group(0), f"Suites: {self.suite}"))
        if not stanzas:
            raise Unavailable(f"no apt source of this machine to take {self.suite} from")
        return "\n\n".join(dict.fromkeys(stanzas)) + "\n"

    def _apt(self, *words, cwd=None):
        return call(["apt-get" if words[0] in ("update", "download") else "apt-cache", *words],
                    env=self._environment(), cwd=cwd)

    def refresh(self):
        """Fetches a private index that is absent or old. The machine's own is left as it is."""
        stamp = self.dir / "updated"
        if self.native or (stamp.exists() and time.time() - stamp.stat().st_mtime < INDEX_AGE):
            return
        try:
            self._apt("update", "-q")
        except Unavailable as reason:
            # One index of several may be out of step; what the others offer is often enough.
            if not any((self.dir / "state/lists").glob("*_Packages*")):
                raise Unavailable(f"{self.arch} {self.suite}: {reason}") from None
        stamp.touch()

    # --- what is remembered, so that a second run asks nobody ---

    def _index_age(self):
        lists = Path("/var/lib/apt/lists") if self.native else self.dir / "state/lists"
        return int(lists.stat().st_mtime) if lists.exists() else 0

    def _remembered(self):
        if self._memory is None:
            path = self.dir / "resolved.json"
            try:
                self._memory = json.loads(path.read_text())
            except (OSError, ValueError):
                self._memory = {}
        return self._memory

    def _remember(self, key, value):
        memory = self._remembered()
        if memory.get("age") != self._index_age():
            memory.clear()
            memory["age"] = self._index_age()
        memory[key] = value
        self.dir.mkdir(parents=True, exist_ok=True)
        (self.dir / "resolved.json").write_text(json.dumps(memory, indent=1))

    def _ask(self, key, question):
        memory = self._remembered()
        if memory.get("age") == self._index_age() and key in memory:
            return memory[key]
        answer = question()
        self._remember(key, answer)
        return answer

    # --- questions and downloads ---

    def depends(self, package):
        """The direct dependencies of PACKAGE that are real packages."""
        def question():
            text = self._apt("depends", "--no-recommends", "--no-suggests", "--no-conflicts",
                             "--no-breaks", "--no-replaces", "--no-enhances", package)
            return re.findall(r"^ *\|?Depends: ([^<\s]+)$", text, re.M)
        self.refresh()
        return self._ask(f"depends {package}", question)

    def version(self, package):
        def question():
            text = self._apt("show", "--no-all-versions", package)
            return re.search(r"^Version: (\S+)$", text, re.M).group(1)
        self.refresh()
        return self._ask(f"version {package}", question)

    def fetch(self, *packages):
        """Folders with PACKAGES unpacked, each named by package and version."""
        folders = []
        for package in packages:
            version = self.version(package)
            folder = self.unpacked / f"{package}_{version.replace(':', '%3a')}"
            if not folder.exists():
                self._unpack(package, folder)
            folders.append(folder)
        return folders

    def _unpack(self, package, folder):
        self.debs.mkdir(parents=True, exist_ok=True)
        before = set(self.debs.glob(f"{package}_*.deb"))
        for old in before:
            old.unlink()
        self._apt("download", "-q", package, cwd=self.debs)
        deb = next(self.debs.glob(f"{package}_*.deb"))
        partial = folder.with_name(folder.name + ".partial")
        call(["rm", "-rf", str(partial)])
        partial.mkdir(parents=True)
        call(["dpkg-deb", "-x", str(deb), str(partial)])
        partial.rename(folder)
        deb.unlink()


def native_arch():
    return call(["dpkg", "--print-architecture"]).strip()


def machine_sources():
    """(codename, file) of each source of this machine that serves a release proper."""
    text = call(["apt-get", "indextargets", "--format", "$(CODENAME) $(RELEASE) $(SOURCESENTRY)",
                 "Created-By: Packages"])
    found = {}
    for line in text.splitlines():
        codename, release, entry = line.split(" ", 2)
        if codename == release and "-" not in codename:
            found[codename] = entry.rsplit(":", 1)[0]
    return found.items()


def mirror():
    """(codename, address) of the release that this machine itself is made of."""
    text = call(["apt-get", "indextargets", "--format",
                 "$(ORIGIN) $(CODENAME) $(RELEASE) $(REPO_URI)", "Created-By: Packages", "Component: main"])
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[0] == "Debian" and fields[1] == fields[2]:
            return fields[1], fields[3]
    raise Unavailable("apt has no index of a Debian release on this machine")


def codename():
    for name, _entry in machine_sources():
        return name
    raise Unavailable("apt has no index of a release on this machine")
