#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Virtual boards: real kernels under QEMU.

    vm.py boards               the boards, one a line
    vm.py boot BOARD           a shell on a board (Ctrl-A X ends it)
    vm.py test [PATTERN...]    runs the tests; a pattern picks those that have it in their name
    vm.py prepare              fetches and builds what they need

Packages, kernels and images go to build-vm beside the sources, or to $PUNCTUAL_VM_CACHE; nothing is
installed but missing tools (QEMU and such). What can't be had is skipped, with the reason.
"""

import argparse
import os
import signal
import sys
from pathlib import Path

VM = Path(__file__).resolve().parent
sys.path.insert(0, str(VM))
sys.dont_write_bytecode = True

from boards import BOARDS  # noqa: E402
from lab import apt, host, run, suite  # noqa: E402


def cache_folder():
    return Path(os.environ.get("PUNCTUAL_VM_CACHE") or VM.parent.parent / "build-vm").resolve()


def prepare(names, say=print):
    """A lab with what the boards NAMES need; what is missing for one is said and left to it."""
    host.install(say)
    cache = cache_folder()
    lab = run.Lab(cache)
    with apt.locked(cache / "lock"):
        for name in names:
            try:
                lab.base(BOARDS[name])
            except apt.Unavailable as reason:
                say(f"{name} can't be had: {reason}")
    return lab


def command_boards(_options):
    for board in BOARDS.values():
        print(f"{board.name:14} {board.about}")
    return 0


def command_boot(options):
    if options.board not in BOARDS:
        print(f"there is no board '{options.board}'; there are: {' '.join(BOARDS)}",
              file=sys.stderr)
        return 2
    try:
        lab = prepare([options.board], say=lambda text: print(text, file=sys.stderr))
        return lab.shell(BOARDS[options.board])
    except apt.Unavailable as reason:
        print(f"{options.board} can't be had: {reason}", file=sys.stderr)
        return 3


def command_test(options):
    wanted = suite.jobs(options.patterns)
    if options.list:
        print(*wanted, sep="\n")
        return 0
    if not wanted:
        print(f"no test is named so: {' '.join(options.patterns)}", file=sys.stderr)
        return 2
    names = dict.fromkeys(job.board.name if job.board else "rt-1" for job in wanted)
    try:
        lab, reason = prepare(names), ""
    except apt.Unavailable as why:
        lab, reason = None, str(why)
    run_all = suite.Suite(lab, reason, options.update_golden, options.report).run
    return 0 if run_all(wanted) else 1


def command_prepare(_options):
    try:
        prepare(BOARDS)
    except apt.Unavailable as reason:
        print(f"skipped: {reason}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("boards").set_defaults(run=command_boards)
    boot = commands.add_parser("boot")
    boot.add_argument("board")
    boot.set_defaults(run=command_boot)
    test = commands.add_parser("test")
    test.add_argument("--list", action="store_true", help="show the tests and run none")
    test.add_argument("--update-golden", action="store_true",
                      help="write what golden boards measure as what is expected from now on")
    test.add_argument("--report", metavar="FILE", type=argparse.FileType("w", encoding="utf-8"),
                      help="write each result there as a line of JSON")
    test.add_argument("patterns", nargs="*")
    test.set_defaults(run=command_test)
    commands.add_parser("prepare").set_defaults(run=command_prepare)
    options = parser.parse_args()
    # an end by SIGTERM runs the same clean-up as Ctrl-C
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
