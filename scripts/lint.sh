#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# lint.sh [--fix | format | cppcheck | tidy | shell]...: quiet where all is well.
set -eu

cd "$(dirname "$0")/.."
sources=$(find src tests/unit tests/fuzz bench -name '*.[ch]' 2>/dev/null | sort)

lint_format() {
	# shellcheck disable=SC2086
	clang-format --dry-run -Werror $sources
}

lint_cppcheck() {
	cppcheck --quiet --error-exitcode=1 --std=c11 --language=c -j "$(nproc)" \
		--enable=warning,performance,portability --inline-suppr \
		--suppressions-list=scripts/cppcheck.list \
		-D_GNU_SOURCE -DPUNCTUAL_VERSION='"0"' -Isrc src
}

lint_tidy() {
	[ -f build/compile_commands.json ] || scripts/configure.sh build
	find src -name '*.c' -print0 | xargs -0 -n 4 -P "$(nproc)" \
		clang-tidy --quiet -p build --extra-arg=-Wno-unknown-warning-option \
		--extra-arg=-Wno-format-nonliteral
}

lint_shell() {
	shellcheck -s sh scripts/*.sh scripts/cross/pkg-config .ci/run
}

[ $# -gt 0 ] || set -- format cppcheck tidy shell
for what; do
	case $what in
	--fix)
		# shellcheck disable=SC2086
		clang-format -i $sources
		;;
	format | cppcheck | tidy | shell) "lint_$what" ;;
	*)
		echo "$0: unknown check '$what'" >&2
		exit 2
		;;
	esac
done
