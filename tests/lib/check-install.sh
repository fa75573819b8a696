#!/bin/sh
# SPDX-License-Identifier: MIT
# Install below a scratch directory, use what is there, uninstall: nothing may be left.
# usage: check-install.sh <make>
set -eu

make=$1
dest=$(mktemp -d "${TMPDIR:-/tmp}/git-checkpoint-install.XXXXXX")
trap 'rm -rf "$dest"' EXIT

$make --no-print-directory -s install DESTDIR="$dest" PREFIX=/usr
"$dest/usr/bin/git-checkpoint" --version >/dev/null
PATH="$dest/usr/bin:$PATH" git checkpoint --version >/dev/null
installed=$(find "$dest" -type f | wc -l)

$make --no-print-directory -s uninstall DESTDIR="$dest" PREFIX=/usr
left=$(find "$dest" ! -type d)
if test -n "$left"; then
	printf 'left behind by uninstall:\n%s\n' "$left" >&2
	exit 1
fi
echo "install and uninstall: $installed files, nothing left behind"
