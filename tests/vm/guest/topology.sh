#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the product says of the board; cases/topology.py compares it with the declaration.
. /lib.sh
punctual topology --json >topology.json || exit 1
punctual topology >topology.txt
