# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -f table.awk truth.tab... MATCHED: table 1 of the PLDI'07 replay paper. The
# lines of MATCHED are those of ../figure7/match.awk. A race is a case in one build:
# all pairs of lines on the same variable, as the paper's section 5.2 counts what
# the replay is to decide. Its row is the first that holds:
#
#	fault, state-change	of one of its pairs, in any run
#	either-order		a state-change, and all its pairs are unlikely
#				for that or for no-state-change
#	no-state-change		all its pairs are unlikely for that
#	too-few			no effect was seen, in too few instances that tell,
#				or not of every pair
#	failure, none		no pair has another outcome, or any
#
# Below are the cases that would be harmful by other rules than racewatch's.
# Status 1 if a race that harms is filtered: in one of the rows either-order and
# no-state-change.

BEGIN {
	FS = "\t"
	rows = split("fault state-change either-order no-state-change too-few failure none",
		row, " ")
	rules = split("any-difference any-memory overlap-memory overlap", rule, " ")
	told["any-difference"] = "a difference beyond the raced bytes"
	told["any-memory"] = "the same, registers left out"
	told["overlap-memory"] = "an overlap that reaches other memory"
	told["overlap"] = "an overlap that reaches memory or registers"
}

FILENAME ~ /\.tab$/ {
	if ($0 ~ /^[a-z]/) {
		kind[$1] = $2
		category[$1] = $3
		order[++all] = $1
	}
	next
}

# As by which rules the pair would be harmful.
function note_rules(race) {
	if ($15 > 0)
		by[race, "any-difference"] = 1
	if ($15 > $16)
		by[race, "any-memory"] = 1
	if ($12 > 0)
		by[race, "overlap-memory"] = 1
	if ($12 > 0 || $13 > 0)
		by[race, "overlap"] = 1
}

$1 in kind {
	race = $1 "\t" $3
	if (!(race in pairs))
		races[++many] = race
	pairs[race]++
	has[race, $8] = 1
	instances[race] += $9
	if ($5 == "no-state-change")
		same[race]++
	if ($5 == "either-order")
		either[race]++
	met[$1] = 1
	note_rules(race)
	if (($5 == "no-state-change" || $5 == "either-order") && kind[$1] == "harmful")
		hidden = hidden "  " race " " $5 " " $6 "\n"
}

function row_of(race) {
	if ((race, "fault") in has)
		return "fault"
	if ((race, "state-change") in has)
		return same[race] + either[race] == pairs[race] ? "either-order" : "state-change"
	if ((race, "no-state-change") in has)
		return same[race] == pairs[race] ? "no-state-change" : "too-few"
	return (race, "failure") in has ? "failure" : "none"
}

function percent(some, of) {
	return sprintf("%d of %d, %.0f %%", some, of, of ? 100 * some / of : 0)
}

END {
	for (i = 1; i <= many; i++) {
		split(races[i], field, "\t")
		outcome = row_of(races[i])
		truth = kind[field[1]]
		count[outcome, truth]++
		sum[truth]++
		for (j = 1; j <= rules; j++)
			harm[rule[j], truth] += (races[i], rule[j]) in by
		if (truth == "benign" && category[field[1]] !~ /approximate|statistics-counter/) {
			exact++
			if (outcome == "no-state-change")
				unchanged++
			else if (outcome == "either-order")
				ordered++
			else
				left = left "  " races[i] " " outcome ", " instances[races[i]] + 0 " instances\n"
		}
		if (truth == "harmful" && outcome ~ /^(either-order|no-state-change)$/)
			missed = missed "  " races[i] " " outcome "\n"
	}
	printf "%-18s %12s %12s\n", "outcome \\ truth", "benign", "harmful"
	for (i = 1; i <= rows; i++)
		printf "%-18s %12d %12d\n", row[i],
			count[row[i], "benign"], count[row[i], "harmful"]
	printf "%-18s %12d %12d\n", "races", sum["benign"], sum["harmful"]
	print "benign, not approximate, filtered by no-state-change: " percent(unchanged, exact)
	print "benign, not approximate, filtered by either rule: " percent(unchanged + ordered, exact)
	print "what would be harmful by replay, but for faults, if that were:"
	for (j = 1; j <= rules; j++)
		printf "%-44s %6d benign %6d harmful\n", "  " told[rule[j]],
			harm[rule[j], "benign"], harm[rule[j], "harmful"]
	for (i = 1; i <= all; i++) {
		if (!(order[i] in met))
			unseen = unseen " " order[i]
	}
	printf "cases not seen:%s\n", unseen ? unseen : " none"
	printf "benign, not approximate, not filtered:\n%s", left
	printf "harmful, filtered:\n%s", missed
	printf "harmful pairs, ranked down for it:\n%s", hidden
	exit(missed != "")
}
