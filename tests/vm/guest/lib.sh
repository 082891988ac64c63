# SPDX-License-Identifier: GPL-2.0-or-later
# For scripts that run on a board; sourced by each. Files put into /out (where a script starts) come
# back to the host: *.json, *.txt, whatever. `ok`, `not_ok`, `skip` report one result each.
. /settings

# NAME: this is as it should be
ok() { echo "ok $1" >>/out/checks; }
# NAME WHY: this is not
not_ok() { echo "not ok $1: $2" >>/out/checks; }
# NAME WHY: this can't be tested here
skip() { echo "skip $1: $2" >>/out/checks; }

# NAME COMMAND...: one result, by the command's status
check() {
	check_name=$1
	shift
	if "$@" >/tmp/check 2>&1; then
		ok "$check_name"
	else
		not_ok "$check_name" "status $? of $*: $(tail -n 3 /tmp/check | tr '\n' ' ')"
	fi
}

# NAME ACTUAL WANTED
equal() {
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "'$2', not '$3'"; fi
}

# NAME: asks the host for one of the test's actions
host() { echo "@lab do $1" >&9; }
