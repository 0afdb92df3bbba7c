# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -v had="TOLD LOOPS 2ND 3RD MOST WORTH" -f tries.awk LOG: what is known of the
# loops of a test when there is one run more, whose log is LOG
# (tests/lib-tries.sh). bench/chance says what each is.

# A length: seconds, rounds as x300, or with a unit.
function length_of(word) {
	sub(/^x/, "", word)
	return word ~ /ms$/ ? word / 1000 : word + 0
}

# Is USED of OF tries closer to failing than what there was?
function closer(used, of,   part) {
	if (split(most, part, "/") < 2)
		return 1
	if (of - used != part[2] - part[1])
		return of - used < part[2] - part[1]
	return of > part[2]
}

function count(loop) {
	loops++
	again += used[loop] > 1
	third += used[loop] > 2
	if (closer(used[loop], of[loop]))
		most = used[loop] "/" of[loop]
	if (worth == "-" || worths[loop] < worth)
		worth = worths[loop]
}

BEGIN {
	most = worth = "-"
	if (split(had, part, " ") == 6) {
		told = part[1]
		loops = part[2]
		again = part[3]
		third = part[4]
		most = part[5]
		worth = part[6]
	}
}

# process numbers, by which loops are named, come again
$4 == 1 && $1 in used {
	count($1)
}

$4 == 1 {
	of[$1] = NF - 4
	worths[$1] = 0
	for (i = 5; i <= NF; i++)
		worths[$1] += length_of($i) / length_of($5)
	worths[$1] = sprintf("%.4g", worths[$1]) + 0
}

{
	used[$1] = $4
}

END {
	for (loop in used)
		count(loop)
	print told + 1, loops + 0, again + 0, third + 0, most, worth
}
