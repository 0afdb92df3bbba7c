# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154 # program, and what lib.sh sets
#
# What tests/run/strings.sh and tests/run/wide.sh share: $program works on some
# bytes in one of many ways, with neighbours that other threads change, or with
# a race. Its runs take turns with the back-ends that work here. After lib.sh.

# The back-ends that work on this machine.
used_backends=()
used_find_backends()
{
	local backend

	for backend in perf perf-cpu ptrace value; do
		registers_for "$backend"
		run run --backend "$backend" -- /bin/true
		[ "$status" -ne 0 ] || used_backends+=("$backend")
		exec 9>&-
	done
	diag "back-ends that work here: ${used_backends[*]}"
}

used_turn=0

# used_tells: of which program and variant of glibc what follows is; bench/used
# reads it
used_tells()
{
	diag "part: ${program##*/} ${GLIBC_TUNABLES:-}"
}

# used_watch WAY SECONDS MODE SEED BACKEND [OPTION...]
used_watch()
{
	local way=$1 seconds=$2 mode=$3 seed=$4 backend=$5 attempt

	shift 5
	registers_for "$backend"
	for ((attempt = 1;; attempt++)); do
		# shellcheck disable=SC2086 # the mode may be no word at all
		RUN_TIMEOUT=150 run run --seed "$seed" --rate 1000 \
			--backend "$backend" "$@" -o "$report" \
			-- "$program" "$seconds" "$way" $mode
		registers_refused "$attempt" || break
	done
	exec 9>&-
}

# The back-end whose turn it is, as $backend.
used_backend()
{
	backend=${used_backends[used_turn % ${#used_backends[@]}]}
}

# used_only BACKEND...: goes on to the turn of one of these; false if none works
# here.
used_only()
{
	local backend

	for _ in "${used_backends[@]}"; do
		used_backend
		[[ " $* " != *" $backend "* ]] || return 0
		used_turn=$((used_turn + 1))
	done
	return 1
}

# Loads that no stall begins at: they show when they trap at a stalled write.
# Then the mask, in a vector register, tells what they load. These back-ends hold
# the thread that trapped, and read it; perf-cpu has no vector registers, and value
# no traps. Stores show by what they change.
used_held="perf ptrace"
used_masked="masked maskload maskload_high load_512 load_512_high"

# What a gather loads is not modelled: it is not reported.
used_gathers="gather"

# musl has these in assembler without a size: they are no function to racewatch,
# and no stall begins in them.
used_unsized="memcpy mempcpy memmove"

# Here glibc's form for AVX-512 loads the letters twice, one place apart. The first
# load finds nothing whatever the letter is, as the next one does not fit; no stall
# begins at the second, which shows when it traps, by its vectors.
used_second="strstr strstr_none"

# used_shows WAY: whether a back-end that works here can report its race; its turn
# is next
used_shows()
{
	[[ " $used_gathers " != *" $1 "* ]] || return
	if [[ " $used_masked " = *" $1 "* ]]; then
		# shellcheck disable=SC2086 # words
		used_only $used_held
	elif [[ -z ${GLIBC_TUNABLES:-} && $program = *strings.O2 &&
		" $used_second " = *" $1 "* ]]; then
		# shellcheck disable=SC2086 # words
		used_only $used_held
	elif [[ $program = *.musl && " $used_unsized " = *" $1 "* ]]; then
		# shellcheck disable=SC2086 # words
		used_only $used_held perf-cpu
	fi
}

used_samples()
{
	summary samples
}

# used_free WAY SEED [SECONDS...]: nothing at all is reported; watched for longer
# where no sample was taken.
used_free()
{
	local seconds backend

	used_backend
	used_turn=$((used_turn + 1))
	[ $# -gt 2 ] || set -- "$@" 1 8 60
	tries seconds "${@:3}"
	while next_try seconds; do
		used_watch "$1" "$seconds" "" "$2" "$backend" \
			--error-exitcode 0
		[ "$(used_samples)" = 0 ] || break
	done
	if [ "$status" -ne 0 ] || [ "$(used_samples)" = 0 ]; then
		not_ok "$1, $backend: exit status $status," \
			"$(used_samples) samples"
	elif records "$report" type=race; then
		not_ok "$1, $backend: reported what is no race"
	else
		ok "$1 is free of races ($backend, $(used_samples) samples)"
		return
	fi
	diag_file "$work/err" 60
}

# used_racy WAY SEED: there is a report, soon or in one of two longer tries. After
# used_free, with the next back-end.
used_racy()
{
	local seconds backend seed=$2

	used_backend
	tries seconds 10 40 90
	while next_try seconds; do
		seed=$((seed + 1000))
		used_watch "$1" "$seconds" race "$seed" "$backend" --halt-on-race
		[ "$status" -eq 0 ] || break
	done
	is "$1 and bytes of it that change, $backend" "$status" 66 ||
		diag_file "$work/err"
}
