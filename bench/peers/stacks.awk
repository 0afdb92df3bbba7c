# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -v tool=TOOL -f json.awk -f stacks.awk REPORT...: the races of reports, whatever tool
# they are of (racewatch, in JSON lines; tsan, helgrind, drd), each as a line:
# two stacks parted by a tab, FUNCTION:LINE from the innermost on, parted by
# blanks; "?" for one that is not known. With DRD the first may be =VARIABLE:0, if the
# first file is NAME.symbols, from nm -S.

function emit() {
	if (races)
		print (stack[1] ? stack[1] : "?") "\t" (stack[2] ? stack[2] : "?")
	stack[1] = stack[2] = ""
	side = 0
}

# A new race begins, with its first stack.
function begin() {
	emit()
	races++
	side = 1
	open = 0
}

function push(name, line) {
	open = 1
	stack[side] = stack[side] (stack[side] ? " " : "") name ":" line
}

function push_frames(text,   frames, n, i, name) {
	sub(/"created":.*/, "", text)
	n = split(text, frames, "\"function\":")
	for (i = 2; i <= n; i++) {
		name = text_of("\"function\":" frames[i], "function")
		gsub(/ /, "", name)
		push(name, text_of(frames[i], "line"))
	}
}

function tell_record(record,   sides) {
	split(substr(record, index(record, "\"sides\":[")), sides, "\"role\":")
	begin()
	push_frames(sides[2])
	side = 2
	push_frames(sides[3])
}

# What was said last of each race of the report before.
function tell_records(   id) {
	for (id in last)
		tell_record(last[id])
	split("", last)
}

function hex(digits,   i, value) {
	for (i = 1; i <= length(digits); i++)
		value = value * 16 + index("123456789abcdef", substr(digits, i, 1))
	return value
}

# The variable of the program there; position-independent ones are put at
# 0x108000 by valgrind.
function variable_at(address,   i) {
	address -= hex("108000")
	for (i = 1; i <= variables; i++)
		if (address >= from[i] && address < to[i])
			return names[i]
	return ""
}

# What nm -S prints of the program.
FILENAME ~ /\.symbols$/ {
	if (NF == 4 && $3 ~ /^[bBdD]$/) {
		names[++variables] = $4
		from[variables] = hex($1)
		to[variables] = from[variables] + hex($2)
	}
	next
}

tool == "racewatch" {
	if (FNR == 1)
		tell_records()
	# synchronization is kept in the file, and reported nowhere
	if (/^\{"type": *"race"/ && !/"verdict": *"sync"/)
		last[text_of($0, "id")] = $0
	next
}

tool == "tsan" {
	if (/^WARNING: ThreadSanitizer: data race/)
		begin()
	else if (/^  ([Aa]tomic )?([Rr]ead|[Ww]rite) of size/)
		side = 1
	else if (/^  Previous .* of size/)
		side = 2
	else if (/^  [A-Z]/ || /^SUMMARY/)
		side = 0
	else if (side && match($0, /#[0-9]+ /)) {
		name = $2
		line = match($0, /\.(c|cc|h):[0-9]+/) ? substr($0, RSTART, RLENGTH) : ":0"
		sub(/.*:/, "", line)
		push(name, line)
	}
	next
}

# Helgrind and DRD: "==PID== " before all.
{
	sub(/^==[0-9]+== ?/, "")
}
/Possible data race during/ {
	begin()
	next
}
# One side only, and for a short function its caller: the variable is needed.
/^Conflicting (load|store)/ {
	begin()
	match($0, / at 0x[0-9a-f]+/)
	name = variable_at(hex(substr($0, RSTART + 6, RLENGTH - 6)))
	if (name)
		push("=" name, 0)
	next
}
/This conflicts with a previous/ {
	side = 2
	open = 0
	next
}
/^ +(at|by) 0x/ && side {
	name = $3
	line = match($0, /:[0-9]+\)/) ? substr($0, RSTART + 1, RLENGTH - 2) : 0
	push(name, line)
	next
}
open {
	side = 0
}

END {
	tell_records()
	emit()
}
