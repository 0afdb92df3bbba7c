# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # deadline is of, and the rest for, .ci/run
#
# Sourced by .ci/run: each of its commands has a limit of its own, and all of
# them together end by $deadline (in seconds since the epoch).

# limited SECONDS COMMAND...: runs it until these, or what is left of all, are
# over. Leaves its exit status in $status, the seconds that it took in $took,
# and when it was cut off, with a status of 124 or more, how in $cut.
limited() {
	limit=$1
	over="cut off at its limit of $limit s"
	shift
	started=$(date +%s)
	if [ $((deadline - started)) -lt "$limit" ]; then
		limit=$((deadline - started))
		over="cut off after $limit s, at the end of the time for all"
	fi
	cut=
	took=0
	# a limit of 0 is none for timeout
	if [ "$limit" -le 0 ]; then
		status=124
		cut="not begun, at the end of the time for all"
		return
	fi
	timeout -k 30 "$limit" "$@"
	status=$?
	took=$(($(date +%s) - started))
	case $status in
	124 | 137) [ "$took" -lt "$limit" ] || cut=$over ;;
	esac
}
