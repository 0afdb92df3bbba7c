# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What tests/run/free.sh and bench/free share: one race-free program watched
# once, what free.tab thinks of its reports. Needs RACEWATCH and TARGETS_DIR.

free_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
free_tab=$free_dir/run/free.tab
# shellcheck source=tests/lib-tries.sh
. "$free_dir/lib-tries.sh"

# The race-free programs, as tests/targets/module.am lists them.
free_names()
{
	sed -n '/^FREE_[A-Z]* = /,/^# end of FREE/s/^\t\([a-z0-9_]*\).*/\1/p' \
		"$free_dir/targets/module.am"
}

# The Go program can be built where there is a Go compiler.
free_can_be_built()
{
	[ "$1" != free_go ] || command -v go >/dev/null
}

# The variants of a program.
free_variants()
{
	local variants="O0 O1 O2 nog0 nog1 nog2 clang"

	case $1 in
	free_rs_* | free_go) variants=${variants% clang} ;; # compilers of their own
	esac
	echo "$variants"
}

# Races of a report that are reported, a line each: VARIABLE:FUNCTION:FUNCTION.
free_race_lines()
{
	local count=0 paths="variable.name"

	for count in 0 1; do
		paths+=" sides.$count.frames.0.function"
	done
	"$HELPERS_DIR/check-report" --select --quiet --print "$paths" "$1" \
		type=race verdict!=sync | sed 's/ -$//; s/ -/:/; s/ /:/g' | sort -u
}

# What free.tab allows NAME in VARIANT, as one regular expression.
free_allowed()
{
	local allowed n v regex

	allowed=$(grep -v '^#' "$free_tab" | while read -r n v regex _; do
		# shellcheck disable=SC2053 # patterns
		[[ $1 = $n && $2 = $v ]] && printf '%s|' "$regex"
	done)
	echo "${allowed:-^$|}^$"
}

free_samples()
{
	"$HELPERS_DIR/check-report" --select --quiet --print samples "$1" \
		type=summary
}

# The samples of programs with large libraries are mostly where they never get
# to; these take longer.
free_time()
{
	case $1 in
	free_qt_*) echo 3 ;;
	*) echo "$2" ;;
	esac
}

# free_run DIRECTORY NAME VARIANT SEED SECONDS: watches the program. Leaves
# $free_verdict ("ok", or what is wrong), $free_samples; in DIRECTORY the
# report, out, err, and the lines of races: allowed, false. When no sample was
# taken, as on a busy machine, it is watched again and longer, up to twice.
free_run()
{
	local dir=$1 report=$1/report.jsonl seconds status allowed

	tries seconds "$(free_time "$2" "$5")" 8 60
	while next_try seconds; do
		rm -f "$report"
		timeout -k 5 180 "$RACEWATCH" run --seed "$4" --rate 1000 \
			--error-exitcode 0 -o "$report" -- \
			"$TARGETS_DIR/$2.$3" "$seconds" \
			>"$dir/out" 2>"$dir/err" </dev/null
		status=$?
		free_samples=$(free_samples "$report")
		free_samples=${free_samples:-0}
		[ "$free_samples" -lt 1 ] || break
	done
	allowed=$(free_allowed "$2" "$3")
	free_race_lines "$report" >"$dir/races"
	grep -E "$allowed" "$dir/races" >"$dir/allowed"
	grep -Ev "$allowed" "$dir/races" >"$dir/false"
	if [ "$status" -ne 0 ]; then
		free_verdict="exit status $status, not 0"
	elif [ "$free_samples" -lt 1 ]; then
		free_verdict="not one sample was taken"
	elif ! grep -q "^$2: done$" "$dir/out"; then
		free_verdict="the program's output is missing"
	elif [ -s "$dir/false" ]; then
		free_verdict="reported what is no race"
	else
		# shellcheck disable=SC2034 # for the caller
		free_verdict=ok
	fi
}
