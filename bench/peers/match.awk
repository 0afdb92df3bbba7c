# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -v program=NAME -f match.awk truth.tab STACKS: what is known of the races
# that stacks.awk printed: a line for each known race that is among them, and
# for each place that is none, once:
#
#	known RACE
#	false FUNCTION:LINE FUNCTION:LINE
#
# A race is the known one that names, for both sides, the innermost function or
# variable that any of the program's known races names. A side that the tool does not
# know belongs to any; with no known races every report is false, and so is one of two
# functions without a mark of a race that has some.

FILENAME ~ /\.tab$/ {
	split($1, field, "/")
	if (field[1] == program) {
		for (i = 3; i <= NF; i++) {
			name = $i
			if (sub(/!$/, "", name))
				marked[$1] = bare[name] = 1
			owner[name] = $1
		}
	}
	next
}

# The race of a side's stack; its place is left in `place', and in `may' whether it may
# race with any other.
function race_of(stack,   frames, n, i, name) {
	n = split(stack, frames, " ")
	place = frames[1]
	may = 1
	for (i = 1; i <= n; i++) {
		name = frames[i]
		sub(/:[^:]*$/, "", name)
		if (name in owner) {
			place = frames[i]
			may = !(owner[name] in marked) || name in bare ||
				name ~ /^=/
			return owner[name]
		}
	}
	return stack == "?" ? "any" : "none"
}

{
	split($0, side, "\t")
	one = race_of(side[1])
	where = place
	either = may
	other = race_of(side[2])
	either = either || may
	# the same two, whichever is named first
	where = place < where ? place " " where : where " " place
	if (one == "any")
		one = other
	if (other == "any")
		other = one
	if (one == other && one ~ /\// && either)
		said["known " one] = 1
	else
		said["false " where] = 1
}

END {
	for (what in said)
		print what
}
