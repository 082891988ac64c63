# SPDX-License-Identifier: GPL-2.0-or-later
"""Virtual boards: packages, images, QEMU and the suite that runs tests on them."""
