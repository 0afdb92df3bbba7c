#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The recorder: what a trace says of accesses, bytes, threads, locks, blocks and
# system calls of tests/targets/recorded.c, in builds with and without symbols
# and position-independence; of children; and what it says it cannot record.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
H=$HELPERS_DIR

if ! "$H/record" "$work" true 2>"$work/err" && grep -q 'valgrind' "$work/err"; then
	not_ok "the recorder is there"
	diag_file "$work/err"
	finish
fi

# record NAME ARG...: the trace of the command's first process is $work/NAME.txt
record()
{
	local name=$1

	shift
	mkdir -p "$work/$name"
	timeout -k 5 120 "$H/record" "${options[@]}" "$work/$name" "$@" \
		>"$work/out" 2>"$work/err"
	status=$?
	for trace in "$work/$name"/trace.*; do
		"$H/trace-print" "$trace"
	done >"$work/$name.txt" 2>>"$work/err"
	trace=$work/$name.txt
}
options=()

# address_of PROGRAM SYMBOL: where it is in the recording
address_of()
{
	local bias

	bias=$(sed -n "s|^module [0-9]* .*/${1##*/} bias \\(0x[0-9a-f]*\\) .*|\\1|p" \
		"$trace")
	printf '0x%x' $((bias + 0x$(nm "$1" | sed -n "s/ [A-Za-z] $2\$//p")))
}

# cells ADDRESS: of its granule: mask, thread, count, the number of locks, and
# what it does, in order of access
cells()
{
	awk -v granule="$(printf '0x%x' $(($1 / 8 * 8)))" '
	$1 == "lockset" { locks[$2] = NF - 2 }
	$1 == "cell" && $2 == granule {
		split($4, mask, "/")
		split($18, set, "/")
		print $12 "\t" mask[1] " " $6 " " $10 " " locks[set[1]] + 0 " " $22
	}' "$trace" | sort -n | cut -f 2
}

# is_in PROGRAM FUNCTION PLACE: does the call that returns to PLACE lie there?
is_in()
{
	nm -S "$1" | awk -v name="$2" -v program="${1##*/}" -v place="$3" '
	function number(digits, i, n) {
		for (i = 1; i <= length(digits); i++)
			n = n * 16 + index("0123456789abcdef",
				substr(digits, i, 1)) - 1
		return n
	}
	$4 == name {
		split(place, part, "[+]0x")
		at = number(part[2]) - 1 - number($1)
		if (part[1] == program && at >= 0 && at < number($2))
			found = 1
	}
	END { print found ? "yes" : "no: " place }'
}

# mask_of ADDRESS SIZE: as cells prints it
mask_of()
{
	printf '%02x' $((((1 << $2) - 1) << $1 % 8))
}

for build in O2 nopie; do
	program=$T/recorded.$build
	record "$build" "$program"
	is "$build: it runs as by itself" "$status $(cat "$work/out")" "0 a 2"
	is "$build: the trace is complete" "$(grep -c '^end ' "$trace")" 1
	a=$(address_of "$program" a)
	mask=$(mask_of "$a" 4)
	# main reads it for its message, after it has joined both
	is "$build: listing 1: both threads write a under one lock" \
		"$(cells "$a" | grep "^$mask")" "$mask 2 1 1 w
$mask 3 1 1 w
$mask 1 1 0 r"
	bytes=$(address_of "$program" bytes)
	is "$build: bytes of one word are told apart" \
		"$(cells "$bytes")" "02 2 1 0 w
40 3 1 0 w"
	sum=$(address_of "$program" atomic_sum)
	is "$build: locked additions are atomic" "$(cells "$sum")" \
		"ff 2 1 0 rwa
ff 3 1 0 rwa"
	is "$build: the threads, created and joined by the first" \
		"$(sed -n 's/ created .* joined [0-9][0-9]*/ joined/p' "$trace" |
			sort -u)" \
		"thread 2 parent 1 ordinal 0 joined joiner 1
thread 3 parent 1 ordinal 1 joined joiner 1"
	# the block that is freed in between is another one
	is "$build: one block is shared" \
		"$(sed -n 's/^block [0-9]* 0x[0-9a-f]* \(size 48 thread [0-9]*\):.*/\1/p' \
			"$trace")" "size 48 thread 2"
	is "$build: its stack begins where malloc was called" \
		"$(is_in "$program" t1 "$(sed -n \
			's/^block .* size 48 thread 2: [^ ]*  0 - \([^ ,]*\).*/\1/p' \
			"$trace")")" yes
	for ((i = 1; i <= 2; i++)); do
		is "$build: the lock of a, where t$i took it" \
			"$(is_in "$program" "t$i" "$(sed -n \
				"s|^lockset [0-9]* $(address_of "$program" ma)/1@||p" \
				"$trace" | sed -n "${i}p")")" yes
	done
	copied=$(address_of "$program" copied)
	is "$build: memcpy writes for its caller" \
		"$(cells $((copied + 100)) | sed -n 1p | cut -d ' ' -f 2,5)" \
		"2 ws"
	received=$(address_of "$program" received)
	is "$build: read(2) writes, too" \
		"$(cells $((received + 100)) | grep -c '^ff 2 1 0 wk$')" 1
	matches "$build: with its descriptor and length" "$trace" \
		"^transfer thread 2 in $received size 200 number 0 fd [0-9]+\$"
done

is "both sides have the caller's return address" "$(sed -n \
	's/^descriptor [0-9]* recorded.nopie+0x[0-9a-f]* w 4 - \([^,]*\).*/\1/p' \
	"$trace" | sort -u | grep -c '^libc')" 1

# Every access, and what the fold has of them.
options=(--lossless)
record lossless "$T/recorded.O2"
is "with every access: it runs as by itself" "$status $(cat "$work/out")" "0 a 2"
options=()

record children sh -c "$T/recorded.O2; exit 3"
is "the status is the command's" "$status" 3
is "a child that calls exec has a trace of its own" \
	"$(grep -c "^program [^ ]*recorded.O2 " "$trace")" 1
is "which is complete" "$(tail -n 1 "$trace" | cut -d ' ' -f 1)" end

# Ten seconds: the trace is complete only if Valgrind has started by then.
options=(--timeout 10000)
record forever "$T/wait_forever.O2"
is "a command that does not end is ended" "$status" 143
is "and its trace is complete" "$(tail -n 1 "$trace" | cut -d ' ' -f 1)" end
options=()

for build in O2 clang; do
	record "omp-$build" "$T/omp_locks.$build"
	is "OpenMP, $build: it runs as by itself" "$status $(cat "$work/out")" \
		"0 added"
	for counter in alone named locked tested nested unlocked; do
		# thread, locks at all accesses
		is "OpenMP, $build: locks of $counter" \
			"$(cells "$(address_of "$T/omp_locks.$build" \
				"$counter")" | cut -d' ' -f2,4 | sort -u |
				tr '\n' ' ')" \
			"$([ $counter = unlocked ] && echo "1 0 2 0 3 0 " ||
				echo "1 1 2 1 3 1 ")"
	done
done

record missing "$T/no-such-program"
matches "a command that is not there is named" "$work/err" \
	'record: record .*no-such-program: .*no-such-program was not found$'
is "and that is an error" "$status" 125

record clones "$T/odd_clones.O2" 0.5
matches "what cannot be recorded is named" "$trace" \
	'^unable (v?fork|clone): '

# What bench/record measures: the cost, and what the fold keeps.
"$top_srcdir/bench/record" --repeats 1 --scale 2 --whole 100 pigz pool \
	>"$work/bench" 2>"$work/err"
is "bench/record: status" $? 0 || diag_file "$work/err"
for program in pigz pool; do
	is "bench/record: $program costs time, and 95 % of its pairs are kept" \
		"$(awk -v name="$program" '$1 == name {
			print ($3 > 0 && $4 > 1 && $6 > $7 && $8 > 0),
				($(NF - 2) > 0 && $(NF - 1) >= 95) }' \
			"$work/bench")" "1 1" || diag_file "$work/bench"
done

finish
