# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that need more than a script in the guest: a comparison on the host, a second boot, an action."""
