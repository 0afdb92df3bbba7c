# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # the variables of bench/peers/run
#
# How bench/peers/run has each tool watch $command, and what it makes of its
# report. Every run adds an object to $json.

tools_check()
{
	have_valgrind=
	if command -v valgrind >/dev/null; then
		have_valgrind=yes
		valgrind --version
	else
		echo "no Helgrind and DRD: package valgrind is not installed;" \
			"high gets 20 s"
	fi
	tsan_compiler=
	for tsan_compiler in clang gcc ""; do
		[ -n "$tsan_compiler" ] || break
		echo 'int main(void) { return 0; }' >"$work/try.c"
		"$tsan_compiler" -fsanitize=thread -o "$work/try" "$work/try.c" \
			2>/dev/null && setarch -R "$work/try" && break
	done
	if [ -n "$tsan_compiler" ]; then
		"$tsan_compiler" --version | head -n 1
	else
		echo "no ThreadSanitizer: neither package clang nor gcc has it"
	fi
}

# tsan_compile NAME KIND: to $work/tsan.
tsan_compile()
{
	local twin=()

	[ -n "$tsan_compiler" ] || return
	[ "$2" = racy ] || twin=(-DTWIN)
	"$tsan_compiler" -std=gnu11 -D_GNU_SOURCE -g -O2 -pthread \
		-fsanitize=thread "${twin[@]}" -I"$here/../../tests/targets" \
		-o "$work/tsan" "$here/$1.c" 2>"$work/compiler" ||
		die "$tsan_compiler: $(head -n 3 "$work/compiler")"
}

# bare: the time of the program alone, in $base, and its memory.
bare()
{
	local status first memory

	measure bare "${command[@]}"
	read -r base status memory first <"$work/bare.result"
	[ "$status" -eq 0 ] || die "${command[*]}: status $status"
	bare_kib=$memory
}

# Lines, as the members of a list in JSON.
quoted()
{
	awk '{
		gsub(/["\\]/, "\\\\&")
		printf "%s\"%s\"", (NR > 1 ? "," : ""), $0
	}'
}

# record TOOL SYNTAX REPORT... adds an object on the last measure of TOOL; in
# the environment of the call: stalls, watched (the program's own time there).
record()
{
	local tool=$1 took status memory first matched=$work/$1.matched
	local truth=$job

	read -r took status memory first <"$work/$tool.result"
	truth=${truth%.*}
	[ "$kind" = racy ] || truth=-
	nm -S "$(command -v "${command[0]}")" >"$work/nm.symbols" 2>/dev/null
	awk -v tool="$2" -f "$bench_source/json.awk" \
		-f "$here/stacks.awk" "$work/nm.symbols" "${@:3}" \
		>"$work/$tool.stacks"
	awk -v program="$truth" -f "$here/match.awk" "$here/truth.tab" \
		"$work/$tool.stacks" | sort >"$matched"
	[ "$first" = - ] && first=null
	printf '{"program":"%s","kind":"%s","tool":"%s","bare_us":%s,"took_us":%s,"program_us":%s,"status":%s,"bare_kib":%s,"kib":%s,"known":%s,"first_us":%s,"stalls":%s,"spent_us":%s,"found":[%s],"false":[%s]}\n' \
		"$job" "$kind" "$tool" "$base" "$took" "${watched:-null}" \
		"$status" "$bare_kib" "$memory" "$known" "$first" \
		"${stalls:-null}" "${spent:-null}" \
		"$(sed -n 's/^known //p' "$matched" | quoted)" \
		"$(sed -n 's/^false //p' "$matched" | quoted)" >>"$json"
	[ -z "$keep" ] || cat "$work/$tool.err" "${@:3}" \
		>"$keep/$job.$tool.$(wc -l <"$json")"
}

microseconds()
{
	awk -v s="${1:-0}" 'BEGIN { printf "%d\n", s * 1e6 }'
}

# run_racewatch TOOL SEED OPTION...: watches with it.
run_racewatch()
{
	local tool=$1 number=$2

	shift 2
	bare
	measure "$tool" timeout "$limit" "$RACEWATCH" run "$@" \
		--seed "$number" --error-exitcode 0 --color never \
		-o "$work/$tool.report" -- "${command[@]}"
	grep -q '"type":"summary"' "$work/$tool.report" ||
		die "racewatch: $(tail -n 1 "$work/$tool.err")"
	stalls=$(field "$work/$tool.report" samples)
	watched=$(microseconds "$(field "$work/$tool.report" elapsed_s)")
}

tool_racewatch()
{
	local stalls watched BENCH_INPUT=$low_input
	local command=("${low_command[@]}")

	run_racewatch racewatch "$1" --overhead 2
	record racewatch racewatch "$work/racewatch.report"
}

# tool_high MICROSECONDS: one run, and a sweep of runs for what is left.
tool_high()
{
	local stalls watched took rest spent reports=("$work/high.report")
	local result more

	run_racewatch high "$seed" --effort high
	result=$(<"$work/high.result")
	took=${result%% *}
	spent=$took
	# a sweep starts, and merges, outside of its budget
	rest=$((($1 - took) / 1000 - 200))
	if [ "$rest" -gt $((base / 500)) ]; then
		rm -rf "$work/sweep"
		measure sweep timeout "$limit" "$RACEWATCH" sweep --budget \
			"${rest}ms" --error-exitcode 0 --seed "$seed" -q \
			-d "$work/sweep" -- "${command[@]}"
		[ -s "$work/sweep/report.jsonl" ] ||
			die "sweep: $(tail -n 1 "$work/sweep.err")"
		reports+=("$work/sweep/report.jsonl")
		more=$(field "$work/sweep/report.jsonl" samples)
		stalls=$((stalls + ${more:-0}))
		spent=$((took + $(cut -d' ' -f1 "$work/sweep.result")))
		[ "${result##* }" != - ] ||
			echo "${result% *} $(sweep_first "$took")" \
				>"$work/high.result"
	fi
	record high racewatch "${reports[@]}"
}

# sweep_first MICROSECONDS: until the sweep's first race, and what was before.
sweep_first()
{
	local first begun

	first=$(grep -ho '"type":"race".*"time":"[^"]*"' \
		"$work"/sweep/run-*/report.jsonl 2>/dev/null |
		sed 's/.*[{,]"time":"\([^"]*\)".*/\1/' | sort | head -n 1)
	begun=$(grep -ho '"start":"[^"]*"' "$work"/sweep/run-*/report.jsonl \
		2>/dev/null | sort | head -n 1 | cut -d'"' -f4)
	[ -n "$first" ] || { echo -; return; }
	first=$(date -d "$first" +%s%6N)
	begun=$(date -d "$begun" +%s%6N)
	echo $(($1 + first - begun))
}

tool_tsan()
{
	bare
	measure tsan timeout "$limit" env "TSAN_OPTIONS=exitcode=0" \
		setarch -R "${tsan_command[@]}"
	record tsan tsan "$work/tsan.err"
}

# Both at once, as each uses one processor. Leaves Helgrind's time in $budget.
tools_valgrind()
{
	local tool

	bare
	for tool in helgrind drd; do
		measure "$tool" timeout "$limit" valgrind -q "--tool=$tool" \
			"${command[@]}" &
		[ -z "$serial" ] || wait
	done
	wait
	for tool in helgrind drd; do
		record "$tool" "$tool" "$work/$tool.err"
	done
	budget=$(cut -d' ' -f1 "$work/helgrind.result")
}
