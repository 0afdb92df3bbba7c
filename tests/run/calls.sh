#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# contrib/calls, by which `make lint' finds files that call each other: what is
# called in a cycle is told, and is not where the pair is declared.

. "$(dirname "$0")/../lib.sh"

# file_of FOLDER/FILE FUNCTION CALLED: what it defines and calls
file_of()
{
	local name

	mkdir -p "$work/src/${1%/*}" "$work/build/src/${1%/*}"
	{
		echo "void $2(void);"
		for name in "${@:3}"; do
			echo "void $name(void);"
		done
		echo "void $2(void) {"
		[ $# -le 2 ] || printf '%s();\n' "${@:3}"
		echo "}"
	} >"$work/src/$1.c"
	gcc -c -o "$work/build/src/$1.o" "$work/src/$1.c" ||
		exit 99
}

# calls: what it says of cycles, and $status
calls()
{
	status=0
	said=$("$work/contrib/calls" --cycles 2>&1) || status=$?
}

mkdir -p "$work/contrib/lint"
cp "$top_srcdir/contrib/calls" "$work/contrib"
list=$work/contrib/lint/cycles
echo "# none" >"$list"

file_of room/a a b
file_of room/b b c
file_of room/c c d
file_of other/d d a
calls
is "calls through another folder are no cycle" "$status $said" "0 "

file_of room/c c a d
calls
is "a cycle is told, and fails" "$status $said" \
	"1 call each other in a cycle: room/a room/b room/c"
is "the table counts its files" \
	"$("$work/contrib/calls" room | tail -n 1 | tr -s ' ')" "room 3 3 3"

file_of room/b b a
file_of room/c c
echo "room/a room/b each asks the other" >"$list"
calls
is "a declared pair is none" "$status $said" "0 "

file_of room/a a b c
file_of room/c c a
calls
is "with a third file it is" "$status $said" \
	"1 call each other in a cycle: room/a room/c"

file_of room/c c
file_of room/b b
calls
is "a pair that is no cycle is told" "$status $said" \
	"1 contrib/lint/cycles: do not call each other: room/a room/b"

file_of room/b b a
echo "room/a room/b" >"$list"
calls
is "so is one without a reason" "$status $said" \
	"1 contrib/lint/cycles: no reason: room/a room/b"
finish
