# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # the variables of bench/peers/run
#
# How bench/peers/run has each tool watch $command, and what it makes of its
# report. Every run adds an object to $json.

tools_check()
{
	have_valgrind=
	versions=
	if command -v valgrind >/dev/null; then
		have_valgrind=yes
		valgrind --version
		versions=", $(valgrind --version)"
	else
		echo "no Helgrind and DRD: package valgrind is not installed;" \
			"sweep gets 20 s"
	fi
	tsan_compiler=
	for tsan_compiler in "${CC:-gcc}" clang ""; do
		[ -n "$tsan_compiler" ] || break
		echo 'int main(void) { return 0; }' >"$work/try.c"
		"$tsan_compiler" -fsanitize=thread -o "$work/try" "$work/try.c" \
			2>/dev/null && setarch -R "$work/try" && break
	done
	if [ -n "$tsan_compiler" ]; then
		"$tsan_compiler" --version | head -n 1
		versions+=", $("$tsan_compiler" --version | head -n 1)"
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

	measure bare "${serve[@]}" "${serve[@]:+env}" "${command[@]}"
	served bare
	read -r base status memory first <"$work/bare.result"
	[ "$status" -eq 0 ] || die "${command[*]}: status $status"
	bare_kib=$memory
}

# served TOOL: of a server the time is the client's, unless it was cut off.
served()
{
	local took rest

	[ ${#serve[@]} -gt 0 ] || return 0
	read -r took rest <"$work/$1.result"
	[ "${rest%% *}" -ne 124 ] || return 0
	echo "$(<"$work/client") $rest" >"$work/$1.result"
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
# the environment of the call: stalls, watched (the program's own time there),
# told (percent).
record()
{
	local tool=$1 took status memory first matched=$work/$1.matched
	local truth=$job

	read -r took status memory first <"$work/$tool.result"
	truth=${truth%.*}
	[ "$kind" = racy ] || truth=-
	nm -S "$(command -v "${command[0]:-none}")" >"$work/nm.symbols" 2>/dev/null
	awk -v tool="$2" -f "$bench_source/json.awk" \
		-f "$here/stacks.awk" "$work/nm.symbols" "${@:3}" \
		>"$work/$tool.stacks"
	awk -v program="$truth" -f "$here/match.awk" "$here/truth.tab" \
		"$work/$tool.stacks" | sort >"$matched"
	[ "$first" = - ] && first=null
	printf '{"program":"%s","kind":"%s","tool":"%s","bare_us":%s,"took_us":%s,"program_us":%s,"status":%s,"bare_kib":%s,"kib":%s,"known":%s,"first_us":%s,"stalls":%s,"told":%s,"found":[%s],"false":[%s]}\n' \
		"$job" "$kind" "$tool" "$base" "$took" "${watched:-null}" \
		"$status" "$bare_kib" "$memory" "$known" "$first" \
		"${stalls:-null}" "${told:-null}" \
		"$(sed -n 's/^known //p' "$matched" | quoted)" \
		"$(sed -n 's/^false //p' "$matched" | quoted)" >>"$json"
	[ -z "$keep" ] || cat "$work/$tool.err" "${@:3}" \
		>"$keep/$job.$tool.$(wc -l <"$json")"
}

microseconds()
{
	awk -v s="${1:-0}" 'BEGIN { printf "%d\n", s * 1e6 }'
}

# printed TEXT REPORT: those records of the report whose races the text has.
printed()
{
	awk '
	FNR == NR {
		if (match($0, /^WARNING: racewatch: data race #[0-9]+/))
			shown[substr($0, 32, RLENGTH - 31)] = 1
		next
	}
	!/^\{"type": *"race"/ { print; next }
	{
		match($0, /"id": *[0-9]+/)
		id = substr($0, RSTART, RLENGTH)
		sub(/.* /, "", id)
		sub(/.*:/, "", id)
		if (id in shown)
			print
	}' "$1" "$2"
}

# tool_racewatch TOOL SEED OPTION...: a run that is watched with it.
tool_racewatch()
{
	local tool=$1 number=$2 stalls watched told

	shift 2
	bare
	rm -f "$work/$tool.report"
	measure "$tool" "${serve[@]}" timeout "$limit" "$RACEWATCH" run "$@" \
		--seed "$number" --error-exitcode 0 --color never \
		-o "$work/$tool.report" -- "${command[@]}"
	served "$tool"
	grep -q '"type":"summary"' "$work/$tool.report" ||
		die "racewatch: $(tail -n 1 "$work/$tool.err")"
	stalls=$(field "$work/$tool.report" samples_stalled)
	told=$(field "$work/$tool.report" overhead_pct)
	watched=$(microseconds "$(field "$work/$tool.report" elapsed_s)")
	printed "$work/$tool.err" "$work/$tool.report" >"$work/$tool.printed"
	record "$tool" racewatch "$work/$tool.printed"
}

tool_low()
{
	local BENCH_INPUT=$low_input command=("${low_command[@]}")

	tool_racewatch low "$1" --overhead 2
}

# tool_sweep MICROSECONDS: runs for so long. Its slow-down is no figure.
tool_sweep()
{
	local stalls

	bare
	rm -rf "$work/sweep"
	# it ends by itself, also where the time is that of a tool cut off
	measure sweep timeout "$((${limit%.*} + 60))" "$RACEWATCH" sweep --budget \
		"$(($1 / 1000))ms" --error-exitcode 0 --seed "$seed" \
		--color never -d "$work/sweep" -- "${command[@]}"
	# of a short time its first run may be cut off: it has no report then
	grep -q '^SWEEP: ' "$work/sweep.err" ||
		die "sweep: $(tail -n 1 "$work/sweep.err")"
	stalls=$(field "$work/sweep/report.jsonl" samples_stalled)
	printed "$work/sweep.err" "$work/sweep/report.jsonl" \
		>"$work/sweep.printed"
	record sweep racewatch "$work/sweep.printed"
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
		measure "$tool" "${serve[@]}" timeout "$limit" valgrind -q \
			"--tool=$tool" "${command[@]}" &
		# two servers would share a socket
		if [ -n "$serial" ] || [ ${#serve[@]} -gt 0 ]; then
			wait
			served "$tool"
		fi
	done
	wait
	for tool in helgrind drd; do
		record "$tool" "$tool" "$work/$tool.err"
	done
	budget=$(cut -d' ' -f1 "$work/helgrind.result")
}
