# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -f json.awk -f summary.awk -v apart=" PROGRAM... " -v intro=TEXT
# -v seconds=S -v low_seconds=S -v repeat=N JSON: what bench/peers/run found, of
# each tool over all programs, and what is asked of racewatch; then what
# README.md says of it.

function word_of(key,   text) {
	text = substr($0, index($0, "\"" key "\":\"") + length(key) + 4)
	sub(/".*/, "", text)
	return text
}

function list_of(key,   text) {
	text = substr($0, index($0, "\"" key "\":[") + length(key) + 4)
	sub(/\].*/, "", text)
	return text
}

# The middle one of ratios[TOOL, 1..n].
function median_of(tool, n,   i, j, value) {
	for (i = 2; i <= n; i++) {
		value = ratios[tool, i]
		for (j = i - 1; j > 0 && ratios[tool, j] > value; j--)
			ratios[tool, j + 1] = ratios[tool, j]
		ratios[tool, j + 1] = value
	}
	return (ratios[tool, int((n + 1) / 2)] + ratios[tool, int((n + 2) / 2)]) / 2
}

function verdict(good) {
	return good ? "yes" : "NO"
}

# The row of README.md for the tool.
function readme_row(tool, median,   m, k) {
	m = runs["first " tool]
	k = runs["told " tool]
	return sprintf("| %s | %.0f %% | %s | %s | %s | %.0f MB | %s | %d |", \
		described[tool], 100 * found[tool] / known[tool], wrong[tool] ? \
			sprintf("%d (%d programs)", wrong[tool], falsely[tool]) : 0, \
		tool == "sweep" ? "-" : sprintf("%.2f [%.2f-%.2f]", median, \
			ratios[tool, 1], ratios[tool, runs[tool]]), \
		k ? sprintf("%.2f", median_of("told " tool, k)) : "", \
		memory[tool] / 1024, \
		m ? sprintf("%.2f s", median_of("first " tool, m)) : "-", cut[tool])
}

function readme(   i) {
	printf "\nREADME.md:\n%d programs with %d known races, and %d without, " \
		"in one run,\n%s.\n", kinds["racy"], races, kinds["free"], intro
	printf "Each program takes %s s by itself, and %s s for " \
		"`--overhead 2`.\n", seconds, low_seconds
	printf "Speed and memory are also of Debian's %s, but for " \
		"ThreadSanitizer,\nand sweeps of servers. What was cut off " \
		"took longer than it says, and may have found more.\n\n", real
	print "| | known races found | false reports | slow-down, median | " \
		"told by racewatch | memory at most | first race after | cut off |"
	print "|---|---|---|---|---|---|---|---|"
	for (i = 1; i <= rows; i++)
		print row[i]
	printf "\nOf %d programs whose threads do not wait for each other, %d " \
		"took more than 1.03 times their time at\n`--overhead 2`%s.\n", all, \
		all - kept, slower
}

BEGIN {
	repeated = repeat > 1 ? "each of " repeat " runs" : "one run"
	described["low"] = "racewatch `run --overhead 2`: " repeated
	described["run"] = "racewatch `run`: " repeated
	described["high"] = "racewatch `run --effort high`: one run"
	described["sweep"] = "racewatch `sweep`, until Helgrind's time is over"
	described["tsan"] = "ThreadSanitizer, of the program built for it"
	described["helgrind"] = "Helgrind"
	described["drd"] = "DRD"
	own["low"] = own["run"] = own["high"] = own["sweep"] = 1
}

{
	tool = word_of("tool")
	program = word_of("program")
	kind = word_of("kind")
	n = ++runs[tool]
	ratios[tool, n] = number_of($0, "took_us") / number_of($0, "bare_us")
	cut[tool] += number_of($0, "status") == 124
	if (number_of($0, "told") != "") {
		m = ++runs["told " tool]
		ratios["told " tool, m] = slowed(number_of($0, "told"))
	}
	known[tool] += number_of($0, "known")
	here = list_of("found") == "" ? 0 : \
		split(list_of("found"), unused, "\",\"")
	found[tool] += here
	stalls[tool] += number_of($0, "stalls")
	if (number_of($0, "kib") > memory[tool])
		memory[tool] = number_of($0, "kib")
	if (here) {
		m = ++runs["first " tool]
		ratios["first " tool, m] = number_of($0, "first_us") / 1e6
	}
	if (kind != "real" && list_of("false") != "") {
		wrong[tool] += split(list_of("false"), unused, "\",\"")
		if (!((tool, program) in counted))
			falsely[tool]++
		counted[tool, program] = 1
		if (own[tool])
			told[++tellings] = program ", " tool ": " list_of("false")
	}
	if (!(program in programs)) {
		programs[program] = ++count
		names[count] = program
		kinds[kind]++
		races += number_of($0, "known")
		if (kind == "real")
			real = real (real ? ", " : "") program
	}
	if (tool == "low" && index(apart, " " program " ")) {
		m = ++runs["apart " program]
		ratios["apart " program, m] = \
			number_of($0, "program_us") / number_of($0, "bare_us")
	}
	if (tool == "sweep" || tool == "helgrind")
		list[tool, program] = list_of("found")
}

END {
	printf "\n%d programs with known races, %d without\n", \
		kinds["racy"], kinds["free"]
	printf "%-10s %7s %-18s %-21s %5s %6s %7s %7s %s\n", "tool", \
		"recall", "false, programs", "slow-down [low-high]", "told", \
		"MB", "first,s", "cut off", "races/1000 stalls"
	n = split("low run high sweep tsan helgrind drd", tools, " ")
	for (i = 1; i <= n; i++) {
		tool = tools[i]
		if (!runs[tool])
			continue
		middle = median_of(tool, runs[tool])
		m = runs["first " tool]
		k = runs["told " tool]
		printf "%-10s %7s %-18s %-21s %5s %6.0f %7s %7d %s\n", tool, \
			known[tool] ? sprintf("%.0f %%", \
				100 * found[tool] / known[tool]) : "-", \
			sprintf("%d, %d", wrong[tool], falsely[tool]), \
			tool == "sweep" ? "-" : \
				sprintf("%.2f [%.2f-%.2f]", middle, \
				ratios[tool, 1], ratios[tool, runs[tool]]), \
			k ? sprintf("%.2f", median_of("told " tool, k)) : "", \
			memory[tool] / 1024, \
			m ? sprintf("%.2f", median_of("first " tool, m)) : "-", \
			cut[tool], \
			stalls[tool] ? sprintf("%.2f", \
				1000 * found[tool] / stalls[tool]) : ""
		if (known[tool])
			row[++rows] = readme_row(tool, middle)
	}
	for (i = 1; i <= tellings; i++)
		print "false report of racewatch: " told[i]
	for (k = 1; k <= count; k++) {
		program = names[k]
		m = split(list["helgrind", program], words, ",")
		for (i = 1; i <= m; i++)
			if (words[i] != "" && !index(list["sweep", program], words[i]))
				print "found by Helgrind only: " words[i]
	}
	for (k = 1; k <= count; k++) {
		program = names[k]
		m = runs["apart " program]
		if (!m)
			continue
		all++
		ratio = median_of("apart " program, m)
		kept += ratio <= 1.03
		if (ratio > 1.03) {
			printf "at --overhead 2, %s: %.3f times its time\n", \
				program, ratio
			slower = slower sprintf("%s %s %.2f", slower ? "," : ":", \
				program, ratio)
		}
	}
	if (runs["helgrind"])
		printf "sweep finds at least as much as Helgrind in its time: %s\n", \
			verdict(found["sweep"] >= found["helgrind"])
	printf "no false report of racewatch: %s\n", verdict(!tellings)
	printf "at --overhead 2 at most 1.03 times the time, of %d programs " \
		"whose threads do not wait for each other: %d\n", all, kept
	if (rows)
		readme()
}
