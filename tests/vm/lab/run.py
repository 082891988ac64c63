# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of one board: QEMU from start to end, within a time limit, and what came of it.

A run ends in exactly one way, its outcome:
  ended       the script ran to its end; its status says the rest
  no boot     the board's first process never spoke, or was not ready within BOOT_LIMIT
  panic       the kernel did
  hang        over the time limit, which counts from when the board was ready
  died        QEMU ended before the script did
  garbage     something came back that is no set of results
  cut         an action of the test ended the board, as it meant to
"""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import threading
import time
from pathlib import Path

from lab import debian, host, image, kernels, machine

POLL = 0.02  # seconds between looks at the channel
BOOT_LIMIT = 180  # seconds; an unloaded machine needs 5 to 20
PANIC_GRACE = 3  # seconds that a board has to reboot after a panic, so that its last words are kept
TAIL = 25  # lines of the console shown with a failure
RESULTS_MAX = 64 << 20


class Guest:
    """What a run left behind."""

    def __init__(self, board, outcome, why, console, files, seconds, events):
        self.board = board
        self.outcome = outcome
        self.why = why
        self.console = console
        self.files = files  # name -> bytes
        self.seconds = seconds  # of this machine
        self.events = events  # what the guest told on the way
        self.status = self._status()

    def _status(self):
        try:
            return int(self.files["status"])
        except (KeyError, ValueError):
            return None

    @property
    def ok(self):
        return self.outcome == "ended" and self.status == 0

    def text(self, name):
        """A file that the script left; KeyError with a list of what there is."""
        if name not in self.files:
            raise KeyError(f"the board left no {name}; it left {', '.join(sorted(self.files))}")
        return self.files[name].decode("utf-8", "replace")

    def json(self, name):
        text = self.text(name)
        try:
            return json.loads(text)
        except ValueError as error:
            raise ValueError(f"{name} is no JSON ({error}): {text[:200]!r}") from None

    def describe(self):
        """Why the run is not what was wanted, for a person."""
        lines = [f"{self.board.name}: {self.outcome}: {self.why} ({self.seconds:.0f} s)"]
        if self.outcome == "ended":
            lines += ["the script's output:", *self.text("log").splitlines()[-TAIL:]]
        else:
            lines += ["the console's last lines:", *self.console.splitlines()[-TAIL:]]
        return "\n    ".join(lines)


class Lab:
    """Makes runs. cache: where prepared things are; keep: where logs of failed runs go."""

    def __init__(self, cache):
        self.cache = cache
        self.kernels = {}
        self.root = None  # the image of a Debian root, or why there is none
        self.lock = threading.Lock()

    def kernel(self, name):
        """The unpacked kernel; raises Unavailable with the same reason each time."""
        with self.lock:
            if name not in self.kernels:
                try:
                    self.kernels[name] = kernels.Unpacked(self.cache, kernels.KERNELS[name])
                except kernels.Unavailable as reason:
                    self.kernels[name] = reason
            found = self.kernels[name]
        if isinstance(found, Exception):
            raise found
        return found

    def base(self, board):
        """The unpacked kernel of BOARD and its base archive."""
        unpacked = self.kernel(board.kernel)
        with self.lock:
            if board.systemd:
                self._root_image()
            return unpacked, image.base(self.cache, unpacked, board.image)

    def disk(self, board, folder):
        """A root file system for BOARD in FOLDER, to be given to one run or several; None where the
        board has none."""
        if not board.systemd:
            return None
        with self.lock:
            made = self._root_image()
        return debian.copy(made, folder / "root")

    def _root_image(self):
        """As the kernel: what can't be had once is not tried again."""
        if self.root is None:
            try:
                self.root = debian.root_image(self.cache)
            except kernels.Unavailable as reason:
                self.root = reason
        if isinstance(self.root, Exception):
            raise self.root
        return self.root

    def initrd(self, board, script, settings, folder):
        """Writes the board's initial file system into FOLDER."""
        unpacked, base = self.base(board)
        arch = unpacked.kernel.arch
        channel = "/dev/ttyS1" if uart_channel(board, arch) else "/dev/lab"
        settings = {**declared(board), "LAB_CHANNEL": channel, "LAB_KERNEL": unpacked.version,
                    **settings}
        path = folder / "initrd"
        with path.open("wb") as out, base.open("rb") as start:
            shutil.copyfileobj(start, out)
            out.write(image.product(arch, 0 if board.image == "tiny" else image.PRODUCT_SLOT))
            out.write(image.test(script, settings))
        return unpacked, path

    def run(self, board, script, limit, settings=None, actions=None, disks=(),
            root=None, boot_limit=BOOT_LIMIT, environment=None):
        """Runs SCRIPT (text) on BOARD, for LIMIT seconds at most from when the board is ready.
        actions: word -> function of the Run, called when the script says `host WORD`. disks: files
        of file systems that outlive the run. root: such a file from disk(); without, a board that
        has one starts from a fresh one. environment: QEMU's, beyond our own."""
        with tempfile.TemporaryDirectory(prefix="punctual-vm-") as folder:
            folder = Path(folder)
            unpacked, initrd = self.initrd(board, script, settings or {}, folder)
            root = root or self.disk(board, folder)
            command = machine.command_line(self.cache, board, unpacked, initrd, disks, root)
            command += [*serial(board, unpacked.kernel.arch, folder)]
            return Run(board, command, folder, (boot_limit, limit), actions or {},
                       environment).finish()

    def shell(self, board):
        """Becomes QEMU with the board's console on this terminal; returns its status."""
        with tempfile.TemporaryDirectory(prefix="punctual-vm-") as folder:
            folder = Path(folder)
            unpacked, initrd = self.initrd(board, None, {}, folder)
            command = machine.command_line(self.cache, board, unpacked, initrd,
                                           root=self.disk(board, folder))
            return subprocess.run([*command, "-serial", "mon:stdio"], check=False).returncode


def declared(board):
    """What the board was declared to be, for scripts to compare with."""
    return {"LAB_BOARD": board.name, "LAB_CGROUP": board.cgroup, "LAB_CPUS": board.cpus,
            "LAB_THREADS": board.threads, "LAB_ISOLATED": board.isolated,
            "LAB_NOHZ_FULL": board.nohz_full, "LAB_NET": int(board.net),
            "LAB_REALTIME": int(board.kernel.startswith("rt")), "LAB_NULL_DISKS": board.disks,
            "LAB_SYSTEMD": int(board.systemd), "LAB_POWER": int(board.power),
            "LAB_BIG_LITTLE": int(board.big_little),
            "LAB_CAPACITIES": " ".join(map(str, board.capacities))}


def uart_channel(board, arch):
    """On deterministic boards results leave through a second UART, whose emulation takes no time of
    the host's; elsewhere through virtio, which is faster."""
    return arch == "amd64" and board.mode != "threads"


def serial(board, arch, folder):
    words = ["-chardev", f"file,id=console,path={folder}/console", "-serial", "chardev:console",
             "-chardev", f"file,id=channel,path={folder}/channel"]
    if uart_channel(board, arch):
        return [*words, "-serial", "chardev:channel"]
    bus = "pci" if arch != "armhf" else "device"
    return [*words, "-device", f"virtio-serial-{bus}", "-device",
            "virtserialport,chardev=channel,name=lab"]


class Run:
    """QEMU while it runs. Actions of tests get this: pause, cut, process."""

    def __init__(self, board, command, folder, limits, actions, environment=None):
        self.board = board
        self.folder = folder
        self.boot_limit, self.limit = limits
        self.ready_at = None
        self.actions = actions
        self.events = []
        self.was_cut = False
        for name in ("console", "channel"):
            (folder / name).touch()
        self.started = time.monotonic()
        # QEMU dies with us however we die, and with all that it may have started
        guard = [host.need("setpriv"), "--pdeathsig", "KILL", "--"]
        self.errors = (folder / "qemu").open("wb")
        self.process = subprocess.Popen([*guard, *command], stdin=subprocess.DEVNULL,
                                        stdout=self.errors, stderr=self.errors,
                                        start_new_session=True, cwd=folder,
                                        env={**os.environ, **(environment or {})})

    # --- for actions ---

    def pause(self, seconds):
        """Stops the whole board as a hypervisor or firmware would."""
        os.kill(self.process.pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(self.process.pid, signal.SIGCONT)

    def cut(self):
        """Takes the power away."""
        self.was_cut = True
        self.kill()

    # --- the course of a run ---

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def finish(self):
        """Waits for the end, whichever it is."""
        over = False
        panic_at = None
        seen = 0
        try:
            while self.process.poll() is None:
                seen = self._act(seen)
                now = time.monotonic()
                if panic_at is None and "Kernel panic" in self._tail():
                    panic_at = now
                over = self._is_over(now)
                if over or (panic_at and now - panic_at > PANIC_GRACE):
                    break
                time.sleep(POLL)
        finally:
            self.kill()
            self.errors.close()
        return self._conclude(over)

    def _is_over(self, now):
        if self.ready_at is None:
            return now - self.started > self.boot_limit
        return now - self.ready_at > self.limit

    def _tail(self):
        path = self.folder / "console"
        with path.open("rb") as console:
            console.seek(max(0, path.stat().st_size - 8192))
            return console.read().decode("utf-8", "replace")

    def _act(self, seen):
        """Does what the guest asks for since position SEEN of the channel; returns the new one."""
        with (self.folder / "channel").open("rb") as channel:
            channel.seek(seen)
            data = channel.read(65536)
        end = data.rfind(b"\n") + 1
        if self.ready_at is None and data.startswith(b"@lab ready"):
            self.ready_at = time.monotonic()
        for word in re.findall(rb"^@lab do (\S+)$", data[:end], re.M):
            name = word.decode()
            self.events.append((name, time.monotonic() - self.started))
            if name in self.actions:
                self.actions[name](self)
        return seen + end if end else seen

    def _conclude(self, over):
        console = clean((self.folder / "console").read_bytes())
        complaint = (self.folder / "qemu").read_text(errors="replace").strip()
        data = (self.folder / "channel").read_bytes()[:RESULTS_MAX]
        outcome, why, files = judge(console, data, self.was_cut)
        if outcome == "hang":
            why = f"over its limit of {self.limit} s"
        if not over and outcome in ("no boot", "hang"):
            outcome = "died" if outcome == "hang" else outcome
            why = "QEMU ended before the script did"
        elif outcome == "no boot":
            why = f"not ready within {self.boot_limit} s"
        if outcome in ("no boot", "died") and complaint:
            why += f"; QEMU says: {complaint.splitlines()[-1]}"
        return Guest(self.board, outcome, why, console, files, time.monotonic() - self.started,
                     self.events)


def judge(console, data, was_cut):
    """(outcome, why, files) from what was left; a run without an end counts as a hang."""
    files, trouble = unpack(data)
    panic = re.search(r"Kernel panic[^\n]*", console)
    if was_cut:
        return "cut", "the test cut its power", files
    if panic:
        return "panic", panic.group(0), files
    if "status" in files:
        return "ended", f"status {files['status'].decode(errors='replace').strip()}", files
    if trouble:
        return "garbage", trouble, files
    if not data.startswith(b"@lab ready"):
        return "no boot", "", files
    return "hang", "", files


def unpack(data):
    """(files, None) from the channel's bytes, or (what there was, what is wrong with it)."""
    files = {}
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        line = data[start:end] if end >= 0 else data[start:]
        if not line.startswith(b"@lab "):
            return files, f"unexpected on the channel: {line[:60]!r}"
        if end < 0:
            return files, None
        start = end + 1
        if line == b"@lab tar":
            return untar(data[start:])
    return files, None


def untar(data):
    files = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                if member.isfile():
                    files[member.name.removeprefix("./")] = archive.extractfile(member).read()
    except (tarfile.TarError, OSError, EOFError) as error:
        return {}, f"results that are no archive: {error}"
    return files, None


def clean(data):
    return data.decode("utf-8", "replace").replace("\r", "")
