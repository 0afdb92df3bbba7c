# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -f json.awk -f match.awk truth.tab PROGRAM.BUILD.SEED...: the races of reports in
# JSON, each with what is known of it, in fields parted by tabs:
#
#	case, truth, build, verdict, reason, FUNCTION:LINE FUNCTION:LINE, times
#	seen, outcome of the replay or "null", and of its instances the numbers
#	of all, of those with an effect, of those in which an overlap has one,
#	in which that reached memory and registers beyond the raced bytes, of
#	those in which the raced bytes never changed, and in which an order
#	reached beyond the raced bytes, and of these in which a register differed
#
# A race belongs to the case that names, for both sides, the innermost function
# that any case of that program names, without its arguments and those of
# templates; a side that nobody saw belongs to any. Functions of a category
# "synchronization" count only where both sides are in them: otherwise it is
# their callers who race. Of a race that has none, the case is "untold".

# A function's name without any arguments.
function plain(name) {
	while (gsub(/<[^<>]*>/, "", name))
		;
	sub(/\(.*/, "", name)
	return name
}

# The case of a side's stack; its place is left in `place'.
function case_of(side, callers,   frames, n, i, name, first) {
	sub(/"created":.*/, "", side)
	n = split(side, frames, "\"function\":")
	for (i = 2; i <= n; i++) {
		name = frames[i]
		sub(/^"/, "", name)
		sub(/".*/, "", name)
		name = plain(name)
		place = name ":" text_of(frames[i], "line")
		if (i == 2)
			first = place
		if ((program, name) in owner &&
		    !(callers && owner[program, name] in library))
			return owner[program, name]
	}
	place = first ? first : "?"
	return index(side, "\"role\":\"unknown\"") ? "any" : "untold"
}

# What running it again in both orders has shown.
function replay_of(record,   at, names, n, i, text) {
	at = index(record, "\"replay\":{")
	if (!at)
		return "null"
	record = substr(record, at)
	text = text_of(record, "outcome")
	n = split("instances changes overlaps overlap_memory overlap_registers still beyond registers",
		names, " ")
	for (i = 1; i <= n; i++)
		text = text OFS number_of(record, names[i])
	return text
}

function tell(record,   sides, one, other, where, callers) {
	split(substr(record, index(record, "\"sides\":[")), sides, "\"role\":")
	callers = case_of("\"role\":" sides[2], 0) != \
		case_of("\"role\":" sides[3], 0)
	one = case_of("\"role\":" sides[2], callers)
	where = place
	other = case_of("\"role\":" sides[3], callers)
	if (one == "any")
		one = other
	if (other != "any" && other != one)
		one = "untold"
	# the same two, whichever was stalled
	where = place < where ? place " " where : where " " place
	print one, one in truth ? truth[one] : "-", build, \
		text_of(record, "verdict"), text_of(record, "reason"), where, \
		text_of(substr(record, index(record, ",\"verdict\"") - 25), "count"), \
		replay_of(record)
}

# What was said last of each race of the report before.
function tell_all(   id) {
	for (id in last)
		tell(last[id])
	split("", last)
}

BEGIN {
	OFS = "\t"
}

FILENAME ~ /\.tab$/ {
	if ($0 ~ /^[a-z]/) {
		split($0, field, "\t")
		name = field[1]
		truth[name] = field[2]
		if (field[3] == "synchronization")
			library[name] = 1
		turn = 1
	} else if (turn == 1) {
		n = split($0, field, /[ \t]+/)
		for (i = 1; i <= n; i++) {
			if (field[i] != "")
				owner[substr(name, 1, index(name, "/") - 1), field[i]] = name
		}
		turn = 2
	}
	next
}

FNR == 1 {
	tell_all()
	n = split(FILENAME, field, "/")
	split(field[n], field, ".")
	program = field[1]
	build = field[2]
}

/^\{"type": *"race"/ {
	last[text_of($0, "id")] = $0
}

END {
	tell_all()
}
