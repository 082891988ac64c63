#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws text from standard input as a terminal window, in SVG on standard output: the picture in the
README is `punctual measure` through this.

usage: picture.py TITLE < text > picture.svg
"""
import html
import sys

CELL_WIDTH, LINE_HEIGHT, PAD, BAR = 8.4, 18, 16, 30


def main():
    lines = sys.stdin.read().rstrip("\n").split("\n")
    columns = max(len(line) for line in lines)
    width = columns * CELL_WIDTH + 2 * PAD
    height = len(lines) * LINE_HEIGHT + BAR + 2 * PAD
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
          f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">')
    print(f'<rect width="100%" height="100%" rx="8" fill="#1d2330"/>')
    for i, colour in enumerate(("#e06c75", "#e5c07b", "#98c379")):
        print(f'<circle cx="{PAD + 4 + 20 * i}" cy="{BAR / 2 + 3}" r="6" fill="{colour}"/>')
    print(f'<text x="{width / 2:.0f}" y="{BAR / 2 + 8}" text-anchor="middle" fill="#8b93a7">'
          f'{html.escape(sys.argv[1])}</text>')
    for number, line in enumerate(lines):
        colour = "#e06c75" if "missed" in line and "goal" in line else "#d7dae0"
        x, y = PAD, BAR + PAD + 14 + number * LINE_HEIGHT
        print(f'<text x="{x}" y="{y}" fill="{colour}" xml:space="preserve" '
              f'textLength="{len(line) * CELL_WIDTH:.1f}">{html.escape(line)}</text>' if line else "")
    print("</svg>")


if __name__ == "__main__":
    sys.exit(main())
