# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -f chance.awk tests/chance.tab COUNTS: the table of bench/chance. A line
# of COUNTS: TEST RUNS FAILED SECONDS TOLD LOOPS 2ND 3RD MOST WORTH.

# The probability of at most k failures in n runs that fail with p each.
function at_most(k, n, p,   i, term, sum) {
	term = (1 - p) ^ n
	for (i = 0; i <= k; i++) {
		sum += term
		term *= (n - i) / (i + 1) * p / (1 - p)
	}
	return sum
}

function bound(k, n,   low, high, i, middle) {
	if (k >= n)
		return 1
	high = 1
	for (i = 0; i < 50; i++) {
		middle = (low + high) / 2
		if (at_most(k, n, middle) > 0.05)
			low = middle
		else
			high = middle
	}
	return high
}

# The probability that a loop of a run fails; bench/chance says what it assumes.
function estimate(told, loops, again, worth,   p) {
	if (!loops)
		return "-"
	p = loops / told * bound(again, loops) ^ worth
	return p < 1e-9 ? "<1e-9" : sprintf("%.1e", p < 1 ? p : 1)
}

FNR == NR {
	n = split($0, part, "\t")
	if (/^tests/)
		derived[part[1]] = n > 2 && part[3] != "" ? part[3] : "-"
	next
}

$2 == 0 {
	printf "%-30s not run %37s\n", $1, derived[$1]
	next
}

{
	printf "%-30s %5d %7d %8.0f %12s %8s %5d %6d %4d %4d %5s %6s %9s\n", \
		$1, $2, $3, $4 / $2, sprintf("%.1f %%", 100 * bound($3, $2)), \
		derived[$1], $5, $6, $7, $8, $9, $10, estimate($5, $6, $7, $10)
}
