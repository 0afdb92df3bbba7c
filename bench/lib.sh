# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What the benchmark scripts share: where things are, timing, statistics.
# From the environment: RACEWATCH, BENCH_DIR (the built bench programs),
# TARGETS_DIR (the built targets), HELPERS_DIR (the built helpers); each has a
# default below ../build.

set -u

bench_arguments=("$@")
bench_source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RACEWATCH=${RACEWATCH:-$bench_source/../build/racewatch}
BENCH_DIR=${BENCH_DIR:-$bench_source/../build/bench}
TARGETS_DIR=${TARGETS_DIR:-$bench_source/../build/tests/targets}
HELPERS_DIR=${HELPERS_DIR:-$bench_source/../build/tests/helpers}

work=$(mktemp -d "${TMPDIR:-/tmp}/racewatch-bench.XXXXXX") || exit 1
# what earlier benchmarks left there makes no difference
export XDG_CACHE_HOME=$work/cache
unset RACEWATCH_CACHE
# what a benchmark has started ends with it, whatever it fails of
trap 'kill $(jobs -p) 2>"$work/kill"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

die()
{
	echo "bench: $*" >&2
	exit 1
}

# timed CMD...: runs it quietly; leaves its time in $took (microseconds) and
# its status in $status.
timed()
{
	local start=${EPOCHREALTIME/[.,]/}

	"$@" >"$work/out" 2>"$work/err" <"${BENCH_INPUT:-/dev/null}"
	# shellcheck disable=SC2034 # for the caller
	status=$?
	took=$((${EPOCHREALTIME/[.,]/} - start))
}

# refuse CALL: what "${watch_with[@]}" starts, racewatch itself, is refused that
# system call (tests/helpers/deny-syscall.c), as in a container.
# shellcheck disable=SC2034 # for the caller
watch_with=("$RACEWATCH")
refuse()
{
	[ -x "$HELPERS_DIR/deny-syscall" ] ||
		die "no $HELPERS_DIR/deny-syscall: make bench-NAME builds it"
	# shellcheck disable=SC2034 # for the caller
	watch_with=("$HELPERS_DIR/deny-syscall" "$1" "$RACEWATCH")
}

# Where program NAME in build VARIANT is: a target or a bench program.
program_path()
{
	local path

	for path in "$BENCH_DIR/$1.$2" "$TARGETS_DIR/$1.$2"; do
		[ -x "$path" ] && echo "$path" && return
	done
	die "$1.$2 is not built: make bench builds it"
}

# calibrate PATH SECONDS: rounds that take the bare program so long.
calibrate()
{
	local rounds=64

	while :; do
		timed "$1" "x$rounds"
		[ "$status" -eq 0 ] || die "$1 failed: status $status"
		[ "$took" -ge 100000 ] && break
		rounds=$((rounds * 4))
	done
	awk -v n="$rounds" -v t="$took" -v s="$2" \
		'BEGIN { printf "%d\n", n * s * 1e6 / t }'
}

# statistics: reads numbers, prints "median low high count"; nothing for none.
statistics()
{
	sort -g | awk '
	{ v[NR] = $1 }
	END {
		if (!NR)
			exit
		m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
		printf "%.4g %.4g %.4g %d\n", m, v[1], v[NR], NR
	}'
}

# present TOOL...: all of them are installed.
present()
{
	local tool

	for tool; do
		command -v "$tool" >"$work/present" || return
	done
}

# field FILE KEY: a number from the last record of a report.
field()
{
	tail -n 1 "$1" 2>/dev/null |
		sed -n "s/.*\"$2\": *\\([-0-9.e]*\\).*/\\1/p"
}

# await SECONDS COMMAND...: polls until COMMAND is true.
await()
{
	local end=$((SECONDS + $1))

	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.02
	done
}

# text_lines COUNT: lines that compress neither well nor badly, the same each
# time.
text_lines()
{
	awk -v n="$1" 'BEGIN { srand(7)
		for (i = 0; i < n; i++)
			printf "%d %s %x\n", i, int(rand() * 1e6), rand() * 1e9
	}'
}

# One line that says on what it was measured.
machine()
{
	printf '%s, %s CPUs, %s, load %s\n' \
		"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
		"$(nproc)" "$(uname -sr)" "$(cut -d' ' -f1 /proc/loadavg)"
}

# readme_text: copies its input; what comes after the line `README.md:' is one
# paragraph, and is broken into lines as long as those of README.md.
readme_text()
{
	awk '
	text {
		for (i = 1; i <= NF; i++) {
			if (line != "" && length(line " " $i) > 126) {
				print line
				line = ""
			}
			line = line (line == "" ? "" : " ") $i
		}
		next
	}
	{ print }
	$0 == "README.md:" { text = 1 }
	END { if (line != "") print line }'
}

# how_made: how the output was made: the command, the date, the machine.
how_made()
{
	local name=${0##*/} word words=

	[ "$name" != run ] || name=$(basename "$(dirname "$0")")
	for word in "${bench_arguments[@]}"; do
		[[ $word =~ ^[-_a-zA-Z0-9=/.,:]+$ ]] || word="\"$word\""
		words+="${words:+ }$word"
	done
	[ -z "$words" ] || words=" BENCH_ARGS='$words'"
	printf '$ make -C build bench-%s%s\n' "$name" "$words"
	date -u +%F
	machine
	"$RACEWATCH" --version | head -n 1
	# without watchpoints it measures something else
	"$RACEWATCH" doctor | sed -n 's/^warning *watch-perf *//p'
}
