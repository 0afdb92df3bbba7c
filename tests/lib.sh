# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Sourced by every test script. Prints TAP: ok and not_ok count for
# themselves, finish prints the plan. Each script has a directory of its own,
# $work, removed at the end. What is started in the background and told to
# lib_started is killed at the end.
#
# From the environment, set by the makefile:
#
#	RACEWATCH       the program under test
#	TARGETS_DIR     the built targets
#	HELPERS_DIR     the built helpers
#	top_srcdir      the sources
#	RACEWATCH_TEST_LONG     set: all seeds, all variants
#	RACEWATCH_SEEDS         the seeds, such as "1 2 3"
#	RACEWATCH_TEST_TURN     which share of the checks that take turns, a number,
#	                        or all (in_turn)
#	RACEWATCH_TEST_TRIES    a file: each try is told to it (lib-tries.sh)
#	RACEWATCH_TEST_REQUIRE  "all": a skip is a failure, unless the machine
#	                        lacks what nothing can give it (skip_lacking)

set -u

lib_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top_srcdir=${top_srcdir:-$lib_dir/..}
RACEWATCH=${RACEWATCH:-$top_srcdir/build/racewatch}
TARGETS_DIR=${TARGETS_DIR:-$top_srcdir/build/tests/targets}
HELPERS_DIR=${HELPERS_DIR:-$top_srcdir/build/tests/helpers}
SOURCES=$top_srcdir/tests/targets
LONG=${RACEWATCH_TEST_LONG:-}

work=$(mktemp -d "${TMPDIR:-/tmp}/racewatch-test.XXXXXX") || exit 99
# nothing of other scripts is known, nor kept
export XDG_CACHE_HOME=$work/cache
unset RACEWATCH_CACHE RACEWATCH_OPTIONS
lib_began=${EPOCHREALTIME/[.,]/} # us
test_turn=${RACEWATCH_TEST_TURN:-$((EPOCHSECONDS / 86400))}
lib_shares=0
lib_tries=$work/.tries # see lib-tries.sh
lib_left_out=0
lib_pids=() # "PID START-TIME"
tap_count=0
tap_failed=0

# When a process started, in clock ticks; field 22, after the name in brackets.
lib_born()
{
	local line

	{ read -r line <"/proc/$1/stat"; } 2>/dev/null || { echo gone; return; }
	# shellcheck disable=SC2086 # words
	set -- ${line##*) }
	# one that nobody waits for has ended all the same, with its threads
	case $1,${18} in
	[ZX],[01]) echo gone ;;
	*) echo "${20}" ;;
	esac
}

# kill, but no stranger: where threads come by the thousand, the number of a
# process that has ended is soon that of another test's program.
kill()
{
	local arg entry known args=() ended=

	for arg; do
		known=
		for entry in "${lib_pids[@]}"; do
			[ "${entry% *}" = "$arg" ] && known=${entry#* }
		done
		if [ -n "$known" ] && [ "$(lib_born "$arg")" != "$known" ]; then
			echo "kill: ($arg) - ended" >&2
			ended=yes
		else
			args+=("$arg")
		fi
	done
	# the others are sent it all the same
	if [ -n "$ended" ] && [[ ${args[-1]-} != [0-9]* ]]; then
		return 1
	fi
	builtin kill "${args[@]}" && [ -z "$ended" ]
}

lib_cleanup()
{
	local entry

	for entry in "${lib_pids[@]}"; do
		kill -9 "${entry% *}" 2>/dev/null
	done
	rm -rf "$work"
}
trap lib_cleanup EXIT
trap 'exit 99' INT TERM

lib_started()
{
	local pid born

	for pid; do
		born=$(lib_born "$pid")
		[ "$born" = gone ] || lib_pids+=("$pid $born")
	done
}

# shellcheck source=tests/lib-tries.sh
. "$lib_dir/lib-tries.sh"

[ -x "$RACEWATCH" ] || { echo "Bail out! no racewatch: $RACEWATCH"; exit 99; }

diag()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# The last lines of a file, as diagnostics.
diag_file()
{
	[ -s "$1" ] && tail -n "${2:-20}" "$1" | sed 's/^/#   /'
}

ok()
{
	tries_tell
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $*"
}

not_ok()
{
	tries_tell
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $*"
}

# skip DESCRIPTION REASON
skip()
{
	if [ "${RACEWATCH_TEST_REQUIRE:-}" = all ]; then
		not_ok "$1 (skipped: $2)"
		return
	fi
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# lacks FACILITY: does this machine lack what no package and no setting gives it
# (tests/helpers/machine)? Then $lacking says so.
declare -A lib_lacking
lacks()
{
	if [ -z "${lib_lacking[$1]+known}" ]; then
		lib_lacking[$1]=$("$HELPERS_DIR/machine" "$1")
	fi
	lacking=${lib_lacking[$1]}
	[ -n "$lacking" ]
}

# skip_lacking FACILITY DESCRIPTION: skips if the machine lacks it, which is never
# a failure; false if it does not
skip_lacking()
{
	lacks "$1" || return 1
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $2 # SKIP $lacking"
}

# is DESCRIPTION GOT WANTED
is()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1"
		diag "got \"$2\", wanted \"$3\""
		return 1
	fi
}

# matches DESCRIPTION FILE REGEX
matches()
{
	if grep -Eq -- "$3" "$2"; then
		ok "$1"
	else
		not_ok "$1"
		diag "nothing like \"$3\" in:"
		diag_file "$2"
		return 1
	fi
}

# records [--print PATHS|--count] FILE CONDITION...: whether a record of JSON in
# FILE meets all of these, such as sides.*.role=unknown or verdict!=sync; and the
# values or the number of those that do. tests/helpers/select.h has the form.
records()
{
	"$HELPERS_DIR/check-report" --select --quiet "$@"
}

# has DESCRIPTION FILE CONDITION...: there is such a record
has()
{
	if records "${@:2}"; then
		ok "$1"
	else
		not_ok "$1"
		diag "no record with ${*:3} in:"
		diag_file "$2"
		return 1
	fi
}

# in_turn N WHAT...: is it the turn of this check, of which a run makes one in N?
# It counts its calls. The next turn, which is the next day's, makes others, and
# after N turns all have been made. A long run makes all. What is not made is told.
in_turn()
{
	lib_shares=$((lib_shares + 1))
	[ -z "$LONG" ] && [ "$test_turn" != all ] &&
		[ $(((lib_shares + test_turn) % $1)) -ne 0 ] || return 0
	lib_left_out=$((lib_left_out + 1))
	diag "left out in turn $test_turn: ${*:2}"
	return 1
}

# words_in_turn N WORD...: the variants of a check for which it was just asked whether
# it is its turn, of one in N: one word, each time that its turn comes another. All
# in a long run.
words_in_turn()
{
	local words=("${@:2}")

	if [ -n "$LONG" ] || [ "$test_turn" = all ]; then
		echo "${words[@]}"
	else
		echo "${words[(lib_shares + test_turn / $1) % ${#words[@]}]}"
	fi
}

# What it took: real time, and the processor's for this script and all that it
# waited for. tests/helpers/durations reads the line.
lib_tell_time()
{
	local now=${EPOCHREALTIME/[.,]/}

	builtin times >"$work/.times"
	diag "took $(((now - lib_began) / 1000)) ms; processor:" \
		"$(tr '\n' ' ' <"$work/.times")"
}

finish()
{
	[ "$lib_left_out" -eq 0 ] ||
		diag "left out in turn $test_turn: $lib_left_out of" \
			"$lib_shares checks (RACEWATCH_TEST_TURN=all)"
	tries_told
	lib_tell_time
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit
}

# The seeds to try: N of them in a short run (default 1), 20 in a long one.
seeds()
{
	if [ -n "${RACEWATCH_SEEDS:-}" ]; then
		echo "$RACEWATCH_SEEDS"
	elif [ -n "$LONG" ]; then
		seq -s ' ' 1 20
	else
		seq -s ' ' 1 "${1:-1}"
	fi
}

# run ARG...: runs racewatch to its end. Leaves $status, $work/out,
# $work/err, and with -o "$report", the report.
report=$work/report.jsonl
run()
{
	rm -f "$report"
	timeout -k 5 "${RUN_TIMEOUT:-60}" "$RACEWATCH" "$@" \
		>"$work/out" 2>"$work/err" </dev/null
	# shellcheck disable=SC2034 # for the caller
	status=$?
}

# The sources of target NAME: its file, C or C++.
source_of()
{
	local path

	for path in "$SOURCES/$1.c" "$SOURCES/$1.cc"; do
		[ -f "$path" ] && echo "$path"
	done
}

# Whether the .expect file of NAME has the line "WORD BACKEND".
expect_says()
{
	grep -q "^$2 $3:" "$SOURCES/$1.expect" 2>/dev/null
}

# as_expected NAME [BACKEND] [SYMBOLS]: compares the report with the .expect
# file; reasons go to $work/check.
as_expected()
{
	local args=(--source "$(source_of "$1")")

	[ -n "${2:-}" ] && args+=(--backend "$2")
	[ -n "${3:-}" ] && args+=(--symbols "$3")
	"$HELPERS_DIR/check-report" "${args[@]}" "$SOURCES/$1.expect" \
		"$report" 2>"$work/check"
}

# How many races the report has; conflicts judged to be synchronization are none.
races_in()
{
	records --count "$1" type=race verdict!=sync
}

# summary KEY [FILE]: a number of the report's summary, or null; the whole
# program's, not that of a module.
summary()
{
	records --print "$1" "${2:-$report}" type=summary | tail -n 1
}

# last_of PATHS FILE: the values at PATHS in the last record of each race of a
# report; conflicts judged to be synchronization are none.
last_of()
{
	records --print "id $1" "$2" type=race verdict!=sync |
		tac | sort -s -u -k1,1 | cut -d' ' -f2-
}

# registers_alone: waits until nobody else is about to need all four debug
# registers, which are everybody's; "exec 9>&-" gives way.
registers_alone()
{
	exec 9>"${abs_top_builddir:-/tmp}/tests-debug-registers.lock"
	flock 9
}

# registers_for BACKEND: the same, for a back-end that takes registers of every
# processor
registers_for()
{
	[ "$1" != perf-cpu ] || registers_alone
}

# registers_refused TRY: did racewatch, whose standard error is $work/err, find no
# debug register free for as long as it waits, and is that not the 20th try? Tests
# of other back-ends use registers without registers_alone.
registers_refused()
{
	[ "$1" -lt 20 ] && grep -qs 'no debug register is free' "$work/err"
}

# await SECONDS COMMAND...: polls until COMMAND is true; a few times at least,
# since the machine may stand still for as long.
await()
{
	local end=$((SECONDS + $1)) tries=$(($1 * 4))

	shift
	until "$@"; do
		tries=$((tries - 1))
		[ "$SECONDS" -lt "$end" ] || [ "$tries" -gt 0 ] || return 1
		sleep 0.05
	done
}

# program_ready: has the target whose output is $work/out begun?
program_ready()
{
	grep -q '^ready [0-9]' "$work/out"
}

# watching: has racewatch begun, that is, has $report a run record?
watching()
{
	records "$report" type=run
}

# child_of PID NAME
child_of()
{
	local child children

	read -ra children <"/proc/$1/task/$1/children"
	for child in "${children[@]}"; do
		[ "$(cat "/proc/$child/comm")" = "$2" ] && echo "$child"
	done
}

# untraced PID: no thread is traced. They are detached one by one.
untraced()
{
	! cat "/proc/$1/task/"*/status 2>/dev/null |
		grep -q '^TracerPid:.*[1-9]'
}

# cpu_time PID: in user mode, in clock ticks
cpu_time()
{
	cut -d' ' -f14 "/proc/$1/stat" 2>/dev/null
}

lib_has_run()
{
	[ "$(cpu_time "$1")" -gt "$2" ] 2>/dev/null
}

# gets_on PID: it computes, or does so within 20 s.
gets_on()
{
	await 20 lib_has_run "$1" "$(cpu_time "$1")"
}

# check_unharmed WHAT PID: its text is that of its file, it has no tracer,
# watchpoint or stopped thread, and it gets on.
check_unharmed()
{
	if "$HELPERS_DIR/pristine" "$2" >"$work/pristine" 2>&1; then
		ok "$1: the program is pristine"
	else
		not_ok "$1: the program is pristine"
		diag_file "$work/pristine"
	fi
	gets_on "$2"
	is "$1: the program gets on" $? 0
}

# build_targets NAME.VARIANT...: builds those programs, which `make check' leaves to
# the tests that watch a share of them a turn. Only one script at a time does so.
build_targets()
{
	(
		exec 9>"$TARGETS_DIR/building.lock" && flock 9 &&
			env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s \
				-C "$TARGETS_DIR/../.." "${@/#/tests/targets/}"
	) >"$work/make.out" 2>&1 && return
	echo "Bail out! cannot build $*"
	diag_file "$work/make.out"
	exit 99
}

# The names in a variable of tests/targets/module.am.
target_list()
{
	sed -n "/^$1 = /,/^# end of $1/p" "$SOURCES/module.am" |
		sed -n 's/^\t\([a-z0-9_]*\).*/\1/p'
}
