# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -f json.awk -f real-races.awk real.tab REPORT...: each race that was
# printed, once, with both places, in how many runs, and what the table knows of
# it. Exit status 1 when the table knows one to be no race, or not at all.

function base(path) {
	sub(/.*\//, "", path)
	return path
}

# "sort.c:3561", or "sort+0x7d2c" without debug information; "?" for nobody.
function place(side) {
	if (index(side, "\"role\":\"unknown\""))
		return "?"
	sub(/.*"frames":\[/, "", side)
	if (text_of(side, "file") != "null" && number_of(side, "line"))
		return base(text_of(side, "file")) ":" number_of(side, "line")
	return base(text_of(side, "module")) "+" text_of(side, "offset")
}

FILENAME == ARGV[1] {
	if ($0 !~ /^#/ && NF) {
		split($0, field, "\t")
		explained[field[1] " " field[2]] = field[3]
	}
	next
}

/"type":"race"/ && !/"verdict":"sync"/ {
	split(FILENAME, path, "/")
	program = path[length(path)]
	sub(/\..*/, "", program)
	sides = $0
	sub(/.*"sides":\[/, "", sides)
	sub(/"created":\[[^]]*\]/, "", sides)
	second = index(substr(sides, 2), "{\"role\":")
	a = place(substr(sides, 1, second))
	b = place(substr(sides, second + 1))
	key = program " " (a < b ? a " " b : b " " a)
	if (!seen[key]) {
		order[++count] = key
		verdict[key] = text_of($0, "verdict")
	}
	if (last[key] != FILENAME)
		seen[key]++
	last[key] = FILENAME
}

END {
	for (i = 1; i <= count; i++) {
		key = order[i]
		why = key in explained ? explained[key] : "not examined"
		bad += why !~ /^true race/
		printf "%s, %s, in %d runs: %s\n", key, verdict[key],
			seen[key], why
	}
	printf "%d races are reported, %d of them not known to be true\n",
		count, bad
	exit bad > 0
}
