#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The races of bench/figure7, of which it is known what they are: none that
# harms is ranked unlikely or sync, none is reported that the programs have not,
# and the table that says so is itself complete. Replays are off: they tell what
# the states led to that were met (bench/replay), and this is about the rules of
# the code's shape. bench/figure7/run is the long version.

. "$(dirname "$0")/../lib.sh"

known=$top_srcdir/bench/figure7
programs=${abs_top_builddir:-$top_srcdir/build}/bench/figure7

# Each case has its marks in the source, and each mark its case; but those of
# libraries.
awk -F'[/\t]' '/^[a-z]/ && $4 != "synchronization" { print $1 "/" $2 }' \
	"$known/truth.tab" | sort >"$work/cases"
for source in "$known"/*.c "$known"/*.cc; do
	program=$(basename "${source%.c*}")
	grep -o 'RACE: [a-z0-9_]*' "$source" | sed "s|RACE: |$program/|"
done | sort -u >"$work/marks"
if cmp -s "$work/cases" "$work/marks"; then
	ok "$(wc -l <"$work/cases") cases are marked in the sources"
else
	not_ok "the cases are those that are marked in the sources"
	diff "$work/cases" "$work/marks" >"$work/diff"
	diag_file "$work/diff"
fi

# The confusion table sees what it is to see.
judged()
{
	printf '%b' "$3" | awk -f "$known/confusion.awk" "$known/truth.tab" - \
		>"$work/table"
	is "$1" "${PIPESTATUS[1]}" "$2" || diag_file "$work/table" 40
}
judged "a right verdict" 0 'bank/balance\tharmful\tO2\tsuspect\tnull\ta b\n'
judged "harm ranked down" 1 'bank/balance\tharmful\tO2\tunlikely\tx\ta b\n'
judged "harm taken for synchronization" 1 \
	'bank/balance\tharmful\tO2\tsuspect\tnull\ta b\nbank/balance\tharmful\tO2\tsync\tx\ta b\n'
judged "benign and suspect" 0 'bank/transactions\tbenign\tO2\tsuspect\tnull\ta b\n'
judged "a race that nobody knows" 1 'untold\t-\tO2\tsuspect\tnull\ta b\n'

special=()
while read -r name; do
	special+=(--special-variable "$name")
done < <(awk -F'[/\t]' '$4 == "special-variable" { print $2 }' \
	"$known/truth.tab")
reports=()
# The standard library of C++ takes a while to read.
length_of()
{
	[ -e "$known/$1.c" ] && echo 1 || echo 4
}
for program in $(cut -d/ -f1 "$work/cases" | uniq); do
	for seed in $(seeds 1); do
		run run --replay off --seed "$seed" --rate 2000 --error-exitcode 0 \
			"${special[@]}" -o "$work/$program.O2.$seed" -- \
			"$programs/$program.O2" "$(length_of "$program")"
		# more is how a race has killed the program
		if [ "$status" -gt 0 ] && [ "$status" -lt 128 ]; then
			not_ok "$program, seed $seed: exit status $status"
			diag_file "$work/err"
		fi
		reports+=("$work/$program.O2.$seed")
	done
done
awk -f "$known/../json.awk" -f "$known/match.awk" "$known/truth.tab" \
	"${reports[@]}" >"$work/matched"
awk -f "$known/confusion.awk" "$known/truth.tab" "$work/matched" >"$work/table"
is "nothing that harms is ranked down" "$?" 0
diag_file "$work/table" 100
# A busy machine may sample little; but in one second of each program that
# nearly none is seen is not to be expected. The table says how many were.
seen=$(sed -n 's/^harmful .* \([0-9]*\) of .*/\1/p' "$work/table")
if skip_lacking registers "enough of the harmful ones were seen"; then
	diag "${seen:-0} were"
elif [ "${seen:-0}" -ge 3 ]; then
	ok "$seen of the harmful ones were seen"
else
	not_ok "only ${seen:-0} of the harmful ones were seen"
fi

finish
