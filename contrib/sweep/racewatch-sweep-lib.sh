# shellcheck shell=sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What racewatch-sweep-parallel and racewatch-sweep-slurm have in common: their
# options, the share of one worker, and the merging at the end. The script sets
# $own_options, a getopts string, and own_option, which takes those, before
# sweep_parse.
#
# shellcheck disable=SC2034,SC2154 # names are those of the scripts

runs=100
share=10
first=1
hunters=
dir='racewatch-sweep'
baseline=
suppressions=
options=
racewatch=${RACEWATCH:-racewatch}

fail() {
	echo "${0##*/}: $*" >&2
	exit 125
}

usage() {
	sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

# quote WORD: for a shell. A brace is $o there, which GNU parallel leaves alone.
quote() {
	printf "'"
	printf '%s' "$1" | sed "s/'/'\\\\''/g; s/{/'\"\$o\"'/g"
	printf "'"
}

is_number() {
	case $1 in
	'' | *[!0-9]* | 0*) return 1 ;;
	esac
}

sweep_parse() {
	while getopts "n:r:f:d:b:s:x:H:h$own_options" option; do
		case $option in
		n) runs=$OPTARG ;;
		r) share=$OPTARG ;;
		f) first=$OPTARG ;;
		d) dir=$OPTARG ;;
		b) baseline=$OPTARG ;;
		s) suppressions=$OPTARG ;;
		H) hunters=$OPTARG ;;
		x) options="$options $(quote "$OPTARG")" ;;
		\? | h) usage ;;
		*) own_option "$option" ;;
		esac
	done
	# a worker of a hunt is a share of one run
	[ -z "$hunters" ] || runs=$hunters share=1 first=1
	for number in "$runs" "$share" "$first"; do
		is_number "$number" || usage
	done
	parsed=$((OPTIND - 1))
	shares=$(((runs + share - 1) / share))
	last=$((first + runs - 1))
}

# share_command COMMAND...: what a worker runs, with the number of its first
# run in $first: runs $first to $first + $share - 1, or to $last. A plan that
# goes by the number makes run n the same whoever has it. That a race was found
# is told at the end, of all.
share_command() {
	[ -z "$hunters" ] || {
		hunt_command "$@"
		return
	}
	# shellcheck disable=SC2016 # for the worker's shell
	printf '%s' 'o=$(printf "\173"); ' "share=$share; last=$last; " \
		'[ $((first + share - 1)) -le $last ] || ' \
		'share=$((last - first + 1)); '
	printf 'exec '
	quote "$racewatch"
	# shellcheck disable=SC2016
	printf '%s' ' sweep --quiet --plan even --error-exitcode 0 ' \
		'--min-samples 0 --first-run $first --runs $share -d '
	quote "$dir"
	# shellcheck disable=SC2016
	printf '%s' '/part-$first'
	[ -z "$suppressions" ] || {
		printf '%s ' ' --suppressions'
		quote "$suppressions"
	}
	[ -z "$baseline" ] || {
		printf '%s ' ' --baseline'
		quote "$baseline"
	}
	printf '%s --' "$options"
	for word in "$@"; do
		printf ' '
		quote "$word"
	done
}

# hunt_begin COMMAND...: record the command for all workers, in $dir/store; no side
# is tried. Of a store that has a recording, nothing is done.
hunt_begin() {
	o='{' # as quote() writes it
	# shellcheck disable=SC2016 # for eval
	eval "set -- $options" '--store "$dir/store" --budget 1ms \
		-o "$dir/recorded.jsonl" -- "$@"'
	"$racewatch" hunt --quiet "$@"
	status=$?
	case $status in
	0 | 65) ;;
	*) exit $status ;;
	esac
}

# hunt_command COMMAND...: what a worker of a hunt runs. Each side of the store is
# claimed by one of them at a time.
hunt_command() {
	# shellcheck disable=SC2016 # for the worker's shell
	printf '%s' 'o=$(printf "\173"); ' "exec $(quote "$racewatch")" \
		' hunt --quiet --error-exitcode 0 --store ' \
		"$(quote "$dir")/store -o $(quote "$dir")"
	# shellcheck disable=SC2016
	printf '%s' '/part-$first.jsonl'
	[ -z "$suppressions" ] ||
		printf '%s' " --suppressions $(quote "$suppressions")"
	[ -z "$baseline" ] || printf '%s' " --baseline $(quote "$baseline")"
	printf '%s --' "$options"
	for word in "$@"; do
		printf ' %s' "$(quote "$word")"
	done
}

# hunt_end COMMAND...: what workers that died have left is tried here, and what came
# of every side is printed; then the races of all.
hunt_end() {
	o='{' # as quote() writes it
	# shellcheck disable=SC2016 # for eval
	eval "set -- $options" '--store "$dir/store" --error-exitcode 0 \
		-o "$dir/part-0.jsonl" -- "$@"'
	"$racewatch" hunt "$@"
	status=$?
	[ $status -ne 125 ] || exit 125
	"$racewatch" report --format json -o "$dir/report.jsonl" \
		"$dir"/part-*.jsonl || exit 125
	"$racewatch" report --baseline "${baseline:-/dev/null}" \
		${suppressions:+--suppressions "$suppressions"} \
		"$dir/report.jsonl" || exit $?
	exit $status
}

# sweep_merge: $dir/report.jsonl of all parts; its status is that of the script.
# 66: a race is neither suppressed nor known; 65: nothing was sampled; 125: a
# part is missing.
sweep_merge() {
	set --
	missing=
	part=$first
	while [ "$part" -le "$last" ]; do
		if [ -s "$dir/part-$part/report.jsonl" ]; then
			set -- "$@" "$dir/part-$part/report.jsonl"
		else
			missing="$missing $part"
		fi
		part=$((part + share))
	done
	[ $# -gt 0 ] || fail "no worker has left a report in $dir"
	"$racewatch" report --format json -o "$dir/report.jsonl" "$@" || exit 125
	"$racewatch" report --baseline "${baseline:-/dev/null}" \
		${suppressions:+--suppressions "$suppressions"} "$dir/report.jsonl"
	status=$?
	[ -z "$missing" ] || fail "no report of the runs from$missing on"
	[ $status -eq 0 ] || return $status
	grep -q '"type":"summary",.*"samples_own":[1-9]' "$dir/report.jsonl" ||
		return 65
}
