#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the Debian packages that are missing for a purpose: deps.sh run|check|lint|cross.
# Asks dpkg first: where nothing is missing nothing is run and no network is needed.
set -eu

run='gcc libc6-dev make meson ninja-build pkg-config zlib1g-dev libsqlite3-dev libjansson-dev'
cross="$run python3 apt dpkg binutils qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross
	gcc-arm-linux-gnueabihf libc6-dev-armhf-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross"
check="$cross libcmocka-dev scdoc clang-format cppcheck python3 bash zsh groff-base binutils util-linux procps
	strace valgrind rt-tests tar zstd xz-utils sqlite3 mount"
lint='clang-format clang-tidy cppcheck shellcheck'
# What the tests on virtual boards need beyond that. Where it can't be had they are skipped.
vm='qemu-system-x86 qemu-system-arm kmod rtla trace-cmd stress-ng device-tree-compiler acpica-tools
	e2fsprogs debootstrap'
optional=

case ${1-} in
run) wanted=$run ;;
check)
	wanted=$check
	optional=$vm
	;;
lint) wanted="$run $lint" ;;
cross) wanted=$cross ;;
*)
	echo "usage: $0 run|check|lint|cross" >&2
	exit 2
	;;
esac

# Without dpkg we cannot install; where the tools are there all the same, the build may go on.
if ! command -v dpkg-query >/dev/null 2>&1; then
	absent=
	for tool in cc meson ninja pkg-config; do
		command -v "$tool" >/dev/null 2>&1 || absent="$absent $tool"
	done
	for library in zlib sqlite3 jansson; do
		pkg-config --exists "$library" 2>/dev/null || absent="$absent $library"
	done
	[ -z "$absent" ] && exit 0
	cat >&2 <<-END
		This is no Debian system, so nothing is installed here. Missing:$absent
		Install what corresponds to these Debian packages, then run make again:
		  $(printf '%s' "$wanted" | tr -s '\n\t' ' ')
	END
	exit 1
fi

absent() { # PACKAGE...: prints those that are not installed
	for package; do
		status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=
		# pkg-config may be provided by pkgconf, apt by anything: ask for the tool itself
		if [ "$status" != installed ]; then
			case $package in
			pkg-config | make | gcc) command -v "$package" >/dev/null 2>&1 && continue ;;
			esac
			printf ' %s' "$package"
		fi
	done
}

install() { # PACKAGE...
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
		"$@" </dev/null >&2
}

# The package index may be absent (a fresh container) or too old: then refresh it and try again.
obtain() { # PACKAGE...
	echo "Installing what is missing: $*" >&2
	if apt-cache show "$@" >/dev/null 2>&1 && install "$@"; then
		return
	fi
	$as_root apt-get update -q </dev/null >&2 && install "$@"
}

# shellcheck disable=SC2086 # lists of packages are meant to be split
missing=$(absent $wanted)
# shellcheck disable=SC2086
missing_optional=$(absent $optional)
[ -z "$missing$missing_optional" ] && exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
	as_root=sudo
	if [ -n "$missing" ] && ! command -v sudo >/dev/null 2>&1; then
		echo "Missing packages, and neither root nor sudo to install them with; as root, run:" >&2
		echo "  apt-get install --no-install-recommends$missing$missing_optional" >&2
		exit 1
	fi
fi
# shellcheck disable=SC2086
[ -z "$missing" ] || obtain $missing
# shellcheck disable=SC2086
if [ -n "$missing_optional" ] && ! obtain $missing_optional; then
	# one that this release has not must not keep the others away
	for package in $missing_optional; do
		install "$package" ||
			echo "Not installed: $package; some tests on virtual boards will be skipped" >&2
	done
fi
