#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes a manual page: man.sh PUNCTUAL SCDOC page.scd page.1
# A line @SYNOPSIS@, @EXAMPLES@, @OPTIONS@ or @COMMANDS@ is replaced with that part as the program itself
# tells it, and @VERSION@ with its version.
set -eu

punctual=$1
scdoc=$2
source=$3
page=$4
name=$(basename "$source" .1.scd)
command=${name#punctual}
command=${command#-}
whole=$page.scd
trap 'rm -f "$whole"' EXIT

version=$("$punctual" --version)
version=${version#punctual }
while IFS= read -r line || [ -n "$line" ]; do
	case $line in
	@COMMANDS@) "$punctual" help --scdoc commands ;;
	@[A-Z]*@)
		part=$(printf '%s' "$line" | tr -d @ | tr '[:upper:]' '[:lower:]')
		"$punctual" help --scdoc "$part" "$command"
		;;
	*@VERSION@*) printf '%s%s%s\n' "${line%%@VERSION@*}" "$version" "${line#*@VERSION@}" ;;
	*) printf '%s\n' "$line" ;;
	esac
done <"$source" >"$whole"
"$scdoc" <"$whole" >"$page"
