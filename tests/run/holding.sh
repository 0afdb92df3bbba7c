#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The locks that each side of a race holds, in programs where they are known:
# holding.tab has them. No lock is named that a side does not hold; those that it
# holds are named, but for kinds of which that cannot be seen.

. "$(dirname "$0")/../lib.sh"

# held LOCKS: what is to be reported of them
held()
{
	case $1 in
	\(*\)) echo - ;;
	*) echo "$1" ;;
	esac
}

# names SIDE MEMBER: what is reported of the locks of this side, sorted
names()
{
	records --print "sides.$1.locks.*.$2" "$report" type=race | head -n 1 |
		tr ',' '\n' | sort | paste -sd,
}

# side_of THREAD: the number of the side that is of it
side_of()
{
	records "$report" "sides.0.thread=$1" && echo 0 && return
	records "$report" "sides.1.thread=$1" && echo 1
}

# seen VARIANT: what is reported of put and look
seen()
{
	local put look member=name

	[ "$1" != stripped ] || member=kind
	put=$(side_of put)
	look=$(side_of look)
	echo "$(names "${put:-2}" $member) $(names "${look:-2}" $member)"
}

rows=0
right=0

# row PROGRAM VARIANT ROW PUT LOOK
row()
{
	local wanted what="$1.$2 $3"

	in_turn 4 "$what" || return 0
	[ -x "$TARGETS_DIR/$1.$2" ] || {
		skip "$what" "it was not built"
		return
	}
	meet "$((100 + rows))" --replay off -- "$TARGETS_DIR/$1.$2" 20 "$3"
	wanted="$(held "$4") $(held "$5")"
	is "$what" "$(seen "$2")" "$wanted"
	has "$what: both were looked at" "$report" type=race \
		'sides.0.locks!=null' 'sides.1.locks!=null'
	rows=$((rows + 1))
	[ "$(seen "$2")" = "$wanted" ] && [[ $4$5 != *\(* ]] &&
		right=$((right + 1))
}

if skip_lacking registers "locks that are held"; then
	finish
fi
while read -r program variant name put look; do
	case $program in
	'' | \#*) ;;
	*) row "$program" "$variant" "$name" "$put" "$look" ;;
	esac
done <"$top_srcdir/tests/run/holding.tab"
diag "all locks of both sides are named: $right of $rows programs"

# as text, and from a saved report
run run --replay off --halt-on-race -o "$report" -- \
	"$TARGETS_DIR/holding.O2" 20 different
"$RACEWATCH" report "$report" >"$work/again"
for file in "$work/err" "$work/again"; do
	grep -Eq '^    holds mu \(mutex at 0x[0-9a-f]+\)$' "$file" &&
		grep -Eq '^    holds other \(mutex at 0x[0-9a-f]+\)$' "$file"
	is "${file##*/}: a line for each side" $? 0
	grep -Eq '^  locks       thread .* holds .*; no common lock was found$' "$file"
	is "${file##*/}: both are compared" $? 0
done
finish
