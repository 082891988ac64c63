#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds for other architectures: cross.sh ARCH... leaves build-ARCH/punctual, one static file.
# An architecture whose packages can't be had at the moment is skipped with a line that says so.
# Debian 12 has no riscv64: there the sources are only compiled, without what needs libraries.
set -eu

cd "$(dirname "$0")/.."
skipped=
failed=

fetch() { # ARCH DIR: 0 done, 1 skipped
	status=0
	# shellcheck disable=SC2086 # the list is meant to be split
	scripts/sysroot.sh "$1" "$2" zlib1g-dev libsqlite3-dev libjansson-dev || status=$?
	[ "$status" -eq 0 ] && return 0
	[ "$status" -eq 3 ] || exit "$status"
	return 1
}

cross_file() { # ARCH: writes build-ARCH.ini, and leaves it alone where it is right
	sed "s|@SOURCE@|$(pwd)|g" "scripts/cross/$1.ini" >"build-$1.ini.new"
	if cmp -s "build-$1.ini.new" "build-$1.ini"; then
		rm "build-$1.ini.new"
	else
		mv "build-$1.ini.new" "build-$1.ini"
	fi
}

build() { # ARCH
	if ! fetch "$1" "build-$1-sysroot"; then
		skipped="$skipped $1"
		return
	fi
	cross_file "$1"
	if scripts/static.sh "build-$1" --cross-file "build-$1.ini"; then
		echo "$1: build-$1/punctual"
	else
		rm -f "build-$1/punctual"
		failed="$failed $1"
	fi
}

compile_riscv64() {
	# only headers are used, and these are the same for every 64-bit architecture
	if ! fetch arm64 build-riscv64-sysroot; then
		skipped="$skipped riscv64"
		return
	fi
	cross_file riscv64
	if scripts/configure.sh build-riscv64 --cross-file build-riscv64.ini \
		-Dstore=false -Dtests=disabled &&
		ninja -C build-riscv64 src/libcore.a punctual.p/src_main.c.o; then
		echo "riscv64: the sources compile (store off)"
	else
		failed="$failed riscv64"
	fi
}

for arch; do
	case $arch in
	arm64 | armhf) build "$arch" ;;
	riscv64) compile_riscv64 ;;
	*)
		echo "$0: no cross file for '$arch'" >&2
		exit 2
		;;
	esac
done
[ -z "$skipped" ] || echo "Skipped, packages not to be had at the moment:$skipped"
if [ -n "$failed" ]; then
	echo "Failed:$failed" >&2
	exit 1
fi
