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
# know belongs to any; with no known races every report is false.

FILENAME ~ /\.tab$/ {
	split($1, field, "/")
	if (field[1] == program) {
		for (i = 3; i <= NF; i++)
			owner[$i] = $1
	}
	next
}

# The race of a side's stack; its place is left in `place'.
function race_of(stack,   frames, n, i, name) {
	n = split(stack, frames, " ")
	place = frames[1]
	for (i = 1; i <= n; i++) {
		name = frames[i]
		sub(/:[^:]*$/, "", name)
		if (name in owner) {
			place = frames[i]
			return owner[name]
		}
	}
	return stack == "?" ? "any" : "none"
}

{
	split($0, side, "\t")
	one = race_of(side[1])
	where = place
	other = race_of(side[2])
	# the same two, whichever is named first
	where = place < where ? place " " where : where " " place
	if (one == "any")
		one = other
	if (other == "any")
		other = one
	if (one == other && one ~ /\//)
		said["known " one] = 1
	else
		said["false " where] = 1
}

END {
	for (what in said)
		print what
}
