# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -f confusion.awk truth.tab MATCHED: what match.awk has printed, as a table
# of truth against verdict, by category as in DataCollider's figure 7; then what
# is wrong. A race is a pair of lines in one build. Of the verdicts that several
# runs gave it counts, if it harms, the lowest; else that of the run which saw it
# most often, since what is ranked down must have been seen often. Status 1 if a
# harmful race was ranked down, or if one is in no case.

# Does this run's verdict count rather than that before?
function counts_more(truth, verdict, than, times, times_before) {
	if (than == "")
		return 1
	if (truth == "benign")
		return times > times_before
	return rank[verdict] < rank[than]
}

function row(label, which,   i) {
	printf "%-28s", label
	for (i = 4; i >= 1; i--)
		printf " %9d", count[which, verdicts[i]]
	printf " %6d of %d\n", seen[which], cases[which]
}

BEGIN {
	FS = "\t"
	split("sync unlikely suspect harmful", verdicts, " ")
	for (i = 1; i <= 4; i++)
		rank[verdicts[i]] = i
}

FILENAME ~ /\.tab$/ {
	if ($0 !~ /^[a-z]/)
		next
	known[++all] = $1
	kind[$1] = $2 "\t" $3
	if (!(($2 "\t" $3) in cases))
		order[++kinds] = $2 "\t" $3
	cases[$2]++
	cases[$2 "\t" $3]++
	next
}

{
	key = $1 "\t" $3 "\t" $6
	if (!(key in verdict))
		races[++many] = key
	if (counts_more($2, $4, verdict[key], $7 + 0, times[key])) {
		verdict[key] = $4
		times[key] = $7 + 0
		reason[key] = $5
	}
}

END {
	for (i = 1; i <= many; i++) {
		split(races[i], field, "\t")
		name = field[1]
		if (!(name in kind)) {
			untold = untold "  " races[i] " " verdict[races[i]] "\n"
			continue
		}
		split(kind[name], what, "\t")
		count[what[1], verdict[races[i]]]++
		count[kind[name], verdict[races[i]]]++
		if (!(name in met)) {
			met[name] = 1
			seen[what[1]]++
			seen[kind[name]]++
		}
		if (what[1] == "harmful" && rank[verdict[races[i]]] < 3)
			missed = missed "  " races[i] " " verdict[races[i]] \
				" (" reason[races[i]] ")\n"
		if (what[1] == "benign" && rank[verdict[races[i]]] > 2)
			left = left "  " races[i] " " verdict[races[i]] \
				" (" reason[races[i]] ")\n"
	}
	printf "%-28s %9s %9s %9s %9s %s\n", "truth \\ verdict", "harmful",
		"suspect", "unlikely", "sync", " cases seen"
	for (k = 1; k <= 2; k++) {
		truth = k == 1 ? "harmful" : "benign"
		row(truth, truth)
		for (i = 1; i <= kinds; i++) {
			split(order[i], what, "\t")
			if (what[1] == truth)
				row("  " what[2], order[i])
		}
	}
	for (i = 1; i <= all; i++) {
		if (!(known[i] in met))
			unseen = unseen " " known[i]
	}
	printf "not seen:%s\n", unseen ? unseen : " none"
	printf "benign, not ranked down:\n%s", left
	printf "harmful, ranked down:\n%s", missed
	printf "in no case:\n%s", untold
	exit(missed != "" || untold != "")
}
