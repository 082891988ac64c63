# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that need more than a script in the guest: a comparison, a second boot, an action."""
