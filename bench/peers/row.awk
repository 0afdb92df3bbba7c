# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -f json.awk -f row.awk -v job=PROGRAM -v tool=TOOL JSON: the row of bench/peers/run
# for what the tool did to the program.

# How many words the list of that name has.
function count_of(key,   at, text) {
	at = index($0, "\"" key "\":[")
	text = substr($0, at + length(key) + 4)
	sub(/\].*/, "", text)
	return text == "" ? 0 : split(text, unused, "\",\"")
}

function insert(value,   i) {
	for (i = runs++; i > 0 && ratio[i] > value; i--)
		ratio[i + 1] = ratio[i]
	ratio[i + 1] = value
}

index($0, "\"program\":\"" job "\"") && index($0, "\"tool\":\"" tool "\"") {
	insert(number_of($0, "took_us") / number_of($0, "bare_us"))
	memory = number_of($0, "kib") > memory ? number_of($0, "kib") : memory
	known += number_of($0, "known")
	found += count_of("found")
	wrong += count_of("false")
	stalls += number_of($0, "stalls")
	if (number_of($0, "first_us") != "") {
		first += number_of($0, "first_us") / 1e6
		firsts++
	}
	if (number_of($0, "told") != "") {
		told += slowed(number_of($0, "told"))
		tells++
	}
	status = number_of($0, "status")
	cut += status == 124
	real = /"kind":"real"/
}

END {
	if (!runs)
		exit
	middle = (ratio[int((runs + 1) / 2)] + ratio[int((runs + 2) / 2)]) / 2
	printf "%-15s %-9s %-21s %5s %6.0f %6s %6s %7s %s%s\n", job, tool, \
		tool == "sweep" ? "-" : \
			sprintf("%.2f [%.2f-%.2f]", middle, ratio[1], ratio[runs]), \
		tells ? sprintf("%.2f", told / tells) : "", \
		memory / 1024, \
		real ? "-" : found "/" known, \
		real ? "(" wrong ")" : wrong, \
		firsts ? sprintf("%.2f", first / firsts) : "-", \
		stalls ? sprintf("%.2f", 1000 * (found + wrong) / stalls) : "", \
		cut ? " (cut off)" : status && status < 125 && status != 66 ? \
			" (status " status ")" : ""
}
