# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -f json.awk -f real-races.awk real.tab REPORT...: each race that was
# printed, once, with both places, in how many runs, and what the table knows of
# it. Exit status 1 when the table knows one to be no race, or not at all.
#
# With -v kinds=1: how many races of each program are of each kind instead.

function base(path) {
	sub(/.*\//, "", path)
	return path
}

# "sort.c:3561", or "sort+0x7d2c" without debug information; "?" for nobody,
# "generated" for code of no file, which stands elsewhere in each run.
function place(side) {
	if (index(side, "\"role\":\"unknown\""))
		return "?"
	sub(/.*"frames":\[/, "", side)
	if (text_of(side, "file") != "null" && number_of(side, "line"))
		return base(text_of(side, "file")) ":" number_of(side, "line")
	if (text_of(side, "module") == "null")
		return "generated"
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

function print_row(name, from,   j) {
	printf "%-10s", name
	for (j = 1; j <= kind_count; j++)
		printf "  %" length(kind_name[j]) "d", from[name, kind_name[j]]
	print ""
}

function print_kinds(   i, j, key, name, kind, of, names, order_of) {
	kind_count = split("true race,benign,atomic,false,not decided," \
		"not examined", kind_name, ",")
	printf "%-10s", "program"
	for (j = 1; j <= kind_count; j++) {
		printf "  %s", kind_name[j]
		is_kind[kind_name[j]]
	}
	print ""
	for (i = 1; i <= count; i++) {
		name = key = order[i]
		sub(/ .*/, "", name)
		kind = key in explained ? explained[key] : "not examined"
		sub(/:.*/, "", kind)
		if (!(kind in is_kind))
			kind = "not examined"
		if (!of[name]++)
			order_of[++names] = name
		of[name, kind]++
		of["all", kind]++
	}
	for (i = 1; i <= names; i++)
		print_row(order_of[i], of)
	print_row("all", of)
}

END {
	if (kinds) {
		print_kinds()
		exit
	}
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
