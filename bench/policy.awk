# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -v stalls=N -v svg=FILE -f json.awk -f policy.awk truth.tab
# SET.PROGRAM.SEED.POLICY.log SET.PROGRAM.SEED.POLICY.jsonl ...: what
# bench/policy prints and plots.

function fail(text) {
	print "policy.awk: " text >"/dev/stderr"
	exit 1
}

# The case of the first function that is of one.
function case_of(record,   n, i, names, name) {
	n = split(record, names, "\"function\":\"")
	for (i = 2; i <= n; i++) {
		name = names[i]
		sub(/["(].*/, "", name)
		if ((program, name) in owner)
			return owner[program, name]
	}
	return ""
}

BEGIN {
	low = 1e9
}

FILENAME ~ /\.tab$/ {
	if ($0 ~ /^[a-z]/) {
		name = $1
		known[substr(name, 1, index(name, "/") - 1)]++
		turn = 1
	} else if (turn == 1) {
		for (i = 1; i <= NF; i++)
			owner[substr(name, 1, index(name, "/") - 1), $i] = name
		turn = 2
	}
	next
}

FNR == 1 {
	n = split(FILENAME, part, "/")
	split(part[n], part, ".")
	set = part[1]
	program = part[2]
	seed = part[3]
	policy = part[4]
	run = set SUBSEP program SUBSEP seed
	if (!((set, program) in listed)) {
		listed[set, program] = 1
		order[++ordered] = set SUBSEP program
	}
	if (!(run in runs)) {
		runs[run] = 1
		seeds[set, program] = seeds[set, program] " " seed
	}
	if (FILENAME ~ /\.log$/)
		split("", stall)
}

FILENAME ~ /\.log$/ && / is new at sample / {
	stall[$(NF - 5)] = $NF
}

# A race's first line is enough.
/^\{"type":"race"/ {
	id = number_of($0, "id")
	name = case_of($0)
	if (name == "" || !(id in stall))
		next
	if (!((run, policy, name) in at) || stall[id] < at[run, policy, name])
		at[run, policy, name] = stall[id]
}

/^\{"type":"summary"/ {
	total[run, policy] = number_of($0, "samples") + 0
}

# Adds up one run: cases found within the stalls, and the stalls it took.
function reckon(set, program, run, policy, limit,   key, part, found, last) {
	for (key in at) {
		split(key, part, SUBSEP)
		if (part[1] != set || part[2] != program || \
		    part[1] SUBSEP part[2] SUBSEP part[3] != run || \
		    part[4] != policy || at[key] > limit)
			continue
		found++
		if (at[key] > last)
			last = at[key]
		curve[set, policy, int((at[key] + step - 1) / step)]++
	}
	last = found == known[program] ? last : limit
	got[set, program, policy] += found
	spent[set, program, policy] += last
	split(run, part, SUBSEP)
	seed_got[set, part[3], policy] += found
	seed_spent[set, part[3], policy] += last
	return found + 0
}

function note_seed(set, seed) {
	if ((set, seed) in seed_known)
		return
	seed_known[set, seed] = 1
	seeds_of[set] = seeds_of[set] " " seed
}

# The logarithm of the ratio over all programs, without one seed ("": with all).
function log_ratio(set, without,   u, g, us, gs) {
	u = sum_got[set, "uniform"]
	g = sum_got[set, "guided"]
	us = sum_spent[set, "uniform"]
	gs = sum_spent[set, "guided"]
	if (without != "") {
		u -= seed_got[set, without, "uniform"]
		g -= seed_got[set, without, "guided"]
		us -= seed_spent[set, without, "uniform"]
		gs -= seed_spent[set, without, "guided"]
	}
	if (u <= 0 || g <= 0 || us <= 0 || gs <= 0)
		return "none"
	return log((g / gs) / (u / us))
}

# Where the ratio lies with 95 %, by what one seed more or less does to it (the
# jackknife); nothing of one seed.
function interval(set,   n, list, i, one, sum, squares, all, error) {
	n = split(seeds_of[set], list, " ")
	all = log_ratio(set, "")
	for (i = 1; i <= n; i++) {
		one = log_ratio(set, list[i])
		if (one == "none" || all == "none")
			return ""
		sum += one
		squares += one * one
	}
	if (n < 2)
		return ""
	error = squares - sum * sum / n
	error = sqrt((error > 0 ? error : 0) * (n - 1) / n)
	return sprintf(" (%.2f to %.2f)", exp(all - 1.96 * error), \
		exp(all + 1.96 * error))
}

function per_1000(set, program, policy) {
	if (!spent[set, program, policy])
		return 0
	return 1000 * got[set, program, policy] / spent[set, program, policy]
}

function ratio_text(u, g) {
	return u > 0 ? sprintf("%.2f", g / u) : g > 0 ? "inf" : "-"
}

function tell_program(set, program,   n, list, i, run, limit, u, g, wins, losses) {
	n = split(seeds[set, program], list, " ")
	for (i = 1; i <= n; i++) {
		run = set SUBSEP program SUBSEP list[i]
		limit = stalls
		if (total[run, "uniform"] < limit)
			limit = total[run, "uniform"]
		if (total[run, "guided"] < limit)
			limit = total[run, "guided"]
		u = reckon(set, program, run, "uniform", limit)
		g = reckon(set, program, run, "guided", limit)
		note_seed(set, list[i])
		wins += g > u
		losses += g < u
		pairs[set]++
		cases[set] += known[program]
	}
	u = per_1000(set, program, "uniform")
	g = per_1000(set, program, "guided")
	printf "%-9s %-10s %5d %8.1f%% %8.1f%% %8.1f %8.1f %7s %5d %5d\n", set, \
		program, known[program], \
		100 * got[set, program, "uniform"] / (n * known[program]), \
		100 * got[set, program, "guided"] / (n * known[program]), u, g, \
		ratio_text(u, g), wins, losses
	for (policy in spent_policy) {
		sum_got[set, policy] += got[set, program, policy]
		sum_spent[set, policy] += spent[set, program, policy]
	}
	if (u > 0 && g > 0) {
		logs[set] += log(g / u)
		ratios[set]++
	}
}

function plot_line(set, policy, x0, y0, colour,   i, sum, points) {
	points = sprintf("%.1f,%.1f", x0, y0)
	for (i = 1; i <= steps; i++) {
		sum += curve[set, policy, i]
		points = points sprintf(" %.1f,%.1f", x0 + i * 320 / steps, \
			y0 - 200 * sum / cases[set])
	}
	printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" " \
		"points=\"%s\"/>\n", colour, points >svg
	printf "<text x=\"%d\" y=\"%.1f\" fill=\"%s\">%s</text>\n", x0 + 324, \
		y0 - 200 * sum / cases[set] + 4, colour, policy >svg
}

function plot(   n, s, x, i) {
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"860\" " \
		"height=\"280\" font-family=\"sans-serif\" font-size=\"12\">" >svg
	print "<rect width=\"860\" height=\"280\" fill=\"white\"/>" >svg
	for (s in pairs) {
		x = 50 + 420 * n++
		printf "<text x=\"%d\" y=\"20\">%s: known races found, of 100" \
			"</text>\n", x, s >svg
		for (i = 0; i <= 4; i++)
			printf "<path d=\"M%d %d h320\" stroke=\"#ddd\"/>" \
				"<text x=\"%d\" y=\"%d\">%d</text>\n", x, \
				240 - 50 * i, x - 26, 244 - 50 * i, 25 * i >svg
		for (i = 0; i <= 4; i++)
			printf "<text x=\"%d\" y=\"258\">%d</text>\n", \
				x + 80 * i - 8, stalls * i / 4 >svg
		printf "<text x=\"%d\" y=\"274\">stalls</text>\n", x + 140 >svg
		plot_line(s, "uniform", x, 240, "#777")
		plot_line(s, "guided", x, 240, "#c00")
	}
	print "</svg>" >svg
}

END {
	if (!ordered)
		fail("no runs")
	steps = 100
	step = stalls / steps
	spent_policy["uniform"] = spent_policy["guided"] = 1
	printf "%-9s %-10s %5s %9s %9s %8s %8s %7s %5s %5s\n", "set", "program", \
		"races", "uniform", "guided", "uniform", "guided", "ratio", \
		"more", "fewer"
	printf "%-9s %-10s %5s %9s %9s %17s\n", "", "", "", "found", "found", \
		"per 1000 stalls"
	for (i = 1; i <= ordered; i++) {
		split(order[i], part, SUBSEP)
		tell_program(part[1], part[2])
	}
	for (set in pairs) {
		u = g = 0
		if (sum_spent[set, "uniform"] && sum_spent[set, "guided"]) {
			u = 1000 * sum_got[set, "uniform"] / sum_spent[set, "uniform"]
			g = 1000 * sum_got[set, "guided"] / sum_spent[set, "guided"]
		}
		printf "%-9s %-10s %5s %8.1f%% %8.1f%% %8.1f %8.1f %7s%s" \
			"   geometric mean of the ratios %.2f\n", set, "all", "", \
			100 * sum_got[set, "uniform"] / cases[set], \
			100 * sum_got[set, "guided"] / cases[set], u, g, \
			ratio_text(u, g), interval(set), \
			ratios[set] ? exp(logs[set] / ratios[set]) : 0
	}
	plot()
}
