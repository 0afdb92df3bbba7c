# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -f json.awk -f kinds.awk REPORT...: what replays came to, by kind of race and
# program. The reports' names are PROGRAM.BUILD, their races those of functions
# whose names begin with a kind (kinds.c). A kind's races are one: all pairs of
# lines. The outcome is the gravest of theirs, and behind it is how many of the
# instances have it, of how many:
#
#	fault N/M, overlap N/M	an overlap led to what no whole order leads to
#	order N/M		some order led to another state, no overlap did more
#	none M			no order made a difference
#	-			there was no instance
#
# It is not as it should be where a kind that harms has no effect, or one that does
# not harm has one, but for a setting's order. Less than 20 instances of one that does
# not harm are too few, as beside many other tasks; a longer run has more. Status 1
# where a kind that harms has no effect: its race would be called unlikely; and where
# it has no instance, which shows nothing.

BEGIN {
	harmful = split("counter references bits flags", kind, " ")
	kinds = split("counter references bits flags check spin redundant disjoint choice produced batch setting",
		kind, " ")
	for (i = 1; i <= kinds; i++)
		known[kind[i]] = 1
	split("an update is lost;a count of references;two bits of one word;two threads find a flag clear;a double check;a spin flag;a redundant write;a bit beside another;the choice of a function;the count of what is produced;how many at a time;a setting, as the order has it",
		told, ";")
}

# The kind of a side's stack: the innermost function that has one.
function kind_of(side,   frames, n, i, name) {
	sub(/"created":.*/, "", side)
	n = split(side, frames, "\"function\":")
	for (i = 2; i <= n; i++) {
		name = frames[i]
		sub(/^"/, "", name)
		sub(/".*/, "", name)
		sub(/\(.*/, "", name)
		sub(/.*::/, "", name)
		sub(/_.*/, "", name)
		if (name in known)
			return name
	}
	return "?"
}

function note(record,   sides, one, at) {
	split(substr(record, index(record, "\"sides\":[")), sides, "\"role\":")
	one = kind_of(sides[2])
	if (one != kind_of(sides[3]))
		one = "?"
	at = index(record, "\"replay\":{")
	if (one == "?" || !at)
		return
	record = substr(record, at)
	instances[one, program] += number_of(record, "instances")
	changes[one, program] += number_of(record, "changes")
	faults[one, program] += number_of(record, "faults")
	overlaps[one, program] += number_of(record, "overlaps")
}

function note_all(   id) {
	for (id in last)
		note(last[id])
	split("", last)
}

FNR == 1 {
	note_all()
	n = split(FILENAME, field, "/")
	program = field[n]
	programs[++many] = program
}

/^\{"type": *"race"/ {
	last[text_of($0, "id")] = $0
}

# Sets bad and few of it.
function outcome(i, program,   at, all) {
	at = kind[i] SUBSEP program
	all = instances[at] + 0
	few[at] = all < (i <= harmful ? 1 : 20)
	bad[at] = i <= harmful ? all > 0 && !faults[at] && !changes[at] : \
		overlaps[at] > 0 || faults[at] > 0 ||
		(kind[i] != "setting" && changes[at] > 0)
	if (faults[at])
		return "fault " faults[at] "/" all
	if (overlaps[at])
		return "overlap " overlaps[at] "/" all
	if (changes[at])
		return "order " changes[at] "/" all
	return all ? "none " all : "-"
}

END {
	note_all()
	for (j = 1; j <= many; j++) {
		printf "%s\n", programs[j]
		for (i = 1; i <= kinds; i++) {
			text = outcome(i, programs[j])
			at = kind[i] SUBSEP programs[j]
			printf "  %-12s %-16s %s%s\n", kind[i], text, told[i],
				bad[at] ? " (not as it should be)" : \
					few[at] ? " (too few)" : ""
			wrong += bad[at]
			missed += bad[at] && i <= harmful
			short += few[at] && !bad[at]
			unseen += few[at] && i <= harmful
			cells++
		}
	}
	printf "%d of %d as they should be, %d with too few instances, %d not\n",
		cells - wrong - short, cells, short, wrong
	print "README.md:"
	printf "A race of each of %d kinds, in %d builds of programs in C, C++ and Rust, inlined and not, beside\n", kinds, many
	printf "processes that use all processors: replays of %d of %d come to what they should, a fault or a\n", cells - wrong - short, cells
	print "change where the kind harms, and else no difference in 20 instances or more; of those that do not harm,"
	printf "%d have fewer instances, and %d come to a difference; of those that do, %d come to none and %d have no\n", short - unseen, wrong - missed, missed, unseen
	print "instance ([each](bench/kinds.txt), `bench-kinds`)."
	exit(missed > 0 || unseen > 0)
}
