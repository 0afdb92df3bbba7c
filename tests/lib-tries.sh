# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154 # report and status, which lib.sh sets
#
# Loops that try again until what chance decides has come:
#
#	tries seconds 2 10 40
#	while next_try seconds; do
#		run run -o "$report" -- "$program" "$seconds"
#		[ "$(races_in "$report")" -eq 0 ] || break
#	done
#
# $seconds has each value in turn, and the last one when no try was of use, as
# with `for'. It may be local. One loop inside another has another variable;
# functions may be called from loops, whatever their own loops are called.
#
# Where RACEWATCH_TEST_TRIES names a file, each try adds a line to it:
#
#	LOOP SCRIPT PLACE TRY LENGTH...
#
# LOOP is one execution of a loop; PLACE is where the loop is, FILE:LINE. TRY is
# a number from 1 on; the last line of a LOOP has the try that ended it, or one
# more than there are when none did. The lengths are the values, but 1 each for
# $seed and $try, which make no try longer than another. A loop of one try is not
# told of. bench/chance reads it. The file's name must be absolute.

declare -A lib_left=()  # by depth and variable: the values still to come
declare -A lib_loop=()  # its lines in the log, up to TRY; empty: none
declare -A lib_turn=()  # the number of its last try
declare -A lib_long=()  # its lengths
lib_loops=0

# Those that scripts name outside functions, for shellcheck.
# shellcheck disable=SC2034
try='' seconds='' seed='' rounds='' duration='' timeout='' budget='' turn=''

# tries VARIABLE VALUE...: a loop begins here
tries()
{
	local lib_key="${#FUNCNAME[@]} $1"
	local lib_values=("${@:2}")

	lib_left[$lib_key]="${lib_values[*]}"
	lib_turn[$lib_key]=0
	lib_loop[$lib_key]=
	[ -n "${RACEWATCH_TEST_TRIES:-}" ] && [ $# -gt 2 ] || return 0
	case $1 in
	seed | try) lib_values=("${lib_values[@]/*/1}") ;;
	esac
	lib_long[$lib_key]="${lib_values[*]}"
	lib_loop[$lib_key]="$BASHPID.$((++lib_loops)) tests/${0##*tests/}"
	lib_loop[$lib_key]+=" ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}"
}

# next_try VARIABLE: its next value; false when there is none
next_try()
{
	local lib_key="${#FUNCNAME[@]} $1"
	local lib_values

	read -ra lib_values <<<"${lib_left[$lib_key]}"
	lib_turn[$lib_key]=$((${lib_turn[$lib_key]} + 1))
	[ -z "${lib_loop[$lib_key]}" ] || echo "${lib_loop[$lib_key]}" \
		"${lib_turn[$lib_key]} ${lib_long[$lib_key]}" \
		>>"$RACEWATCH_TEST_TRIES"
	[ ${#lib_values[@]} -gt 0 ] || return 1
	printf -v "$1" %s "${lib_values[0]}"
	lib_left[$lib_key]="${lib_values[*]:1}"
}

# meet SEED ARG...: a run, halted at its first race; when none is met, or the
# other side of it is not (but with $one_sided), there is another one, up to
# twice. Programs without a race end with 0 or 11.
meet()
{
	local seed

	tries seed "$1" $(($1 + 1000)) $(($1 + 2000))
	while next_try seed; do
		run run --seed "$seed" --halt-on-race --duration 20s \
			-o "$report" "${@:2}"
		case $status in
		0 | 11) ;;
		66)
			[ -z "${one_sided:-}" ] || break
			records "$report" sides.*.role=unknown || break
			;;
		*) break ;;
		esac
	done
}

# record_race FILE SEED COMMAND...: a run, halted at its first race; its report
# is FILE, and what it printed is in FILE.err. One that sees no race, or one side
# only (but with $one_sided), is made again, with another seed, up to twice.
record_race()
{
	local file=$1 seed

	tries seed "$2" $(($2 + 1000)) $(($2 + 2000))
	while next_try seed; do
		timeout 120 "$RACEWATCH" run --seed "$seed" --halt-on-race \
			-o "$file" -- "${@:3}" >/dev/null 2>"$file.err"
		[ $? -eq 66 ] && { [ -n "${one_sided:-}" ] ||
			! records "$file" sides.*.role=unknown; } && return
		diag "$3, seed $seed:"
		diag_file "$file.err"
	done
}
