# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -f table.awk truth.tab... MATCHED: table 1 of the PLDI'07 replay paper. The
# lines of MATCHED are those of ../figure7/match.awk, with the outcome of the
# replay as the eighth field. A race is a case in one build: all pairs of lines
# on the same variable, as the paper's section 5.2 counts what the replay is to
# decide. The outcome of a race is the gravest of its pairs' in all runs: fault,
# state-change, no-state-change; failure where no pair has any other. Status 1
# if a race that harms has only the outcome no-state-change.

BEGIN {
	FS = "\t"
	split("fault state-change no-state-change failure none", outcomes, " ")
	for (i = 1; i <= 5; i++)
		rank[outcomes[i]] = i
}

FILENAME ~ /\.tab$/ {
	if ($0 ~ /^[a-z]/) {
		kind[$1] = $2
		category[$1] = $3
		order[++all] = $1
	}
	next
}

$1 in kind {
	race = $1 "\t" $3
	outcome = $8 in rank ? $8 : "none"
	if (!(race in worst)) {
		races[++many] = race
		worst[race] = outcome
	} else if (rank[outcome] < rank[worst[race]]) {
		worst[race] = outcome
	}
	met[$1] = 1
	if ($4 == "unlikely" && $5 == "no-state-change" && kind[$1] == "harmful")
		hidden = hidden "  " race " " $6 "\n"
}

END {
	for (i = 1; i <= many; i++) {
		split(races[i], field, "\t")
		outcome = worst[races[i]]
		truth = kind[field[1]]
		count[outcome, truth]++
		sum[truth]++
		if (truth == "benign" && category[field[1]] !~ /approximate|statistics-counter/) {
			exact++
			if (outcome == "no-state-change")
				filtered++
			else
				left = left "  " races[i] " " outcome "\n"
		}
		if (truth == "harmful" && outcome == "no-state-change")
			missed = missed "  " races[i] "\n"
	}
	printf "%-18s %12s %12s\n", "outcome \\ truth", "benign", "harmful"
	for (i = 1; i <= 5; i++)
		printf "%-18s %12d %12d\n", outcomes[i],
			count[outcomes[i], "benign"], count[outcomes[i], "harmful"]
	printf "%-18s %12d %12d\n", "races", sum["benign"], sum["harmful"]
	printf "benign, not approximate: %d of %d filtered, %.0f %%\n",
		filtered, exact, exact ? 100 * filtered / exact : 0
	for (i = 1; i <= all; i++) {
		if (!(order[i] in met))
			unseen = unseen " " order[i]
	}
	printf "cases not seen:%s\n", unseen ? unseen : " none"
	printf "benign, not approximate, not filtered:\n%s", left
	printf "harmful, no-state-change:\n%s", missed
	printf "harmful pairs, ranked down for it:\n%s", hidden
	exit(missed != "" || hidden != "")
}
