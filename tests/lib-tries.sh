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
# The next result of the script (ok, not_ok) comes after a line that says which
# try ended the loop, its value, and the time that it took. At the end the script
# fails if too many loops needed a later try (tries_told).
#
# Each try adds a line to the file $lib_tries, which lib.sh sets, and to the file that RACEWATCH_TEST_TRIES
# names, if any:
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
declare -A lib_tried=() # of loops since the last result: PLACE TRY OF VALUE SINCE
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
	[ $# -gt 2 ] || return 0
	case $1 in
	seed | try) lib_values=("${lib_values[@]/*/1}") ;;
	esac
	lib_long[$lib_key]="${lib_values[*]}"
	lib_loop[$lib_key]="$BASHPID.$((++lib_loops)) tests/${0##*tests/}"
	lib_loop[$lib_key]+=" ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}"
}

# lib_note_try KEY VALUE: a try begins, or with no value the loop has failed
lib_note_try()
{
	local line="${lib_loop[$1]} ${lib_turn[$1]} ${lib_long[$1]}"
	local of log

	read -ra of <<<"${lib_long[$1]}"
	for log in ${lib_tries:+"$lib_tries"} \
		${RACEWATCH_TEST_TRIES:+"$RACEWATCH_TEST_TRIES"}; do
		echo "$line" >>"$log"
	done
	lib_tried[$1]="${lib_loop[$1]##* } ${lib_turn[$1]} ${#of[@]} ${2:-none}"
	lib_tried[$1]+=" ${EPOCHREALTIME/[.,]/}"
}

# What the loops since the last result needed.
tries_tell()
{
	local key place turn of value since now=${EPOCHREALTIME/[.,]/}

	for key in "${!lib_tried[@]}"; do
		read -r place turn of value since <<<"${lib_tried[$key]}"
		if [ "$value" = none ]; then
			echo "# $place: none of $of tries was of use"
		else
			printf '# %s: try %d of %d, %s %s, took %d ms\n' \
				"$place" "$turn" "$of" "${key#* }" "$value" \
				$(((now - since) / 1000))
		fi
	done
	lib_tried=()
}

# Did more loops need a later try than chance explains? The fourth column of
# chance.tab has the probability that a first try is not enough, at most; 0.2
# where it has none. The script fails if with this probability so many later tries,
# or more, come in less than one of a million runs.
tries_told()
{
	local script=tests/${0##*tests/} later loops most

	tries_tell
	[ -s "$lib_tries" ] || return 0
	read -r later loops most < <(awk -F'\t' -v script="$script" '
		FNR == NR {
			if ($1 == script && $4 != "")
				p = $4
			next
		}
		split($0, word, " ") && word[4] == 1 && word[1] in used {
			count(word[1])
		}
		{ used[word[1]] = word[4] }
		function count(loop) {
			loops++
			later += used[loop] > 1
		}
		function tail(k,   i, term, sum) {
			term = (1 - p) ^ loops
			for (i = 0; i < k; i++) {
				sum += term
				term *= (loops - i) / (i + 1) * p / (1 - p)
			}
			return 1 - sum
		}
		END {
			if (p == "")
				p = 0.2
			for (loop in used)
				count(loop)
			for (most = loops; most > 0 && p < 1; most--)
				if (tail(most) >= 1e-6)
					break
			print later + 0, loops, most
		}' "$lib_dir/chance.tab" "$lib_tries")
	if [ "$later" -le "$most" ]; then
		ok "of $loops loops, $later needed a later try; $most may"
	else
		not_ok "of $loops loops, $later needed a later try; $most may"
	fi
}

# next_try VARIABLE: its next value; false when there is none
next_try()
{
	local lib_key="${#FUNCNAME[@]} $1"
	local lib_values

	read -ra lib_values <<<"${lib_left[$lib_key]}"
	lib_turn[$lib_key]=$((${lib_turn[$lib_key]} + 1))
	[ -z "${lib_loop[$lib_key]}" ] || lib_note_try "$lib_key" \
		"${lib_values[0]-}"
	[ ${#lib_values[@]} -gt 0 ] || return 1
	printf -v "$1" %s "${lib_values[0]}"
	lib_left[$lib_key]="${lib_values[*]:1}"
}

# meet SEED ARG...: a run, halted at its first race; when none is met, or the
# other side of it is not (but with $one_sided), or others have all debug
# registers, there is another one, up to twice. Programs without a race end with 0 or 11.
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
		*) grep -qs 'no debug register is free' "$work/err" || break ;;
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
