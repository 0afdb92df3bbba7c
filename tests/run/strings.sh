#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# String functions load more than they use. With counters beside a constant
# string that other threads change, nothing is reported, of any rank; when they
# change a letter of it, that is. In a long run all functions of
# tests/targets/strings.c, with the variants that glibc can be told to take. The
# same for musl, whose functions load words of 8 bytes.

. "$(dirname "$0")/../lib.sh"

# A string search, a comparison, one with a length, a copy, wide characters, one
# with instructions of its own, one with masked loads, and repeated string
# instructions.
short="strlen strcmp memchr_none strcpy wcslen strspn strstr scas"
sse2=glibc.cpu.hwcaps=-AVX512VL,-AVX2,-SSE4_2,-SSE4_1,-SSSE3

# watch FUNCTION SECONDS MODE SEED [OPTION...]
watch()
{
	local function=$1 seconds=$2 mode=$3 seed=$4

	shift 4
	# shellcheck disable=SC2086 # the mode may be no word at all
	RUN_TIMEOUT=150 run run --seed "$seed" --rate 1000 "$@" -o "$report" \
		-- "$program" "$seconds" "$function" $mode
}

samples()
{
	sed -n '/"type": *"summary"/s/.*"samples": *\([0-9]*\).*/\1/p' "$report"
}

# Nothing at all is reported; watched for longer where no sample was taken.
is_free()
{
	local seconds

	for seconds in 1 8 60; do
		watch "$1" "$seconds" "" "$2" --error-exitcode 0
		[ "$(samples)" = 0 ] || break
	done
	if [ "$status" -ne 0 ] || [ "$(samples)" = 0 ]; then
		not_ok "$1: exit status $status, $(samples) samples"
	elif grep -q '"type": *"race"' "$report"; then
		not_ok "$1: reported what is no race"
	else
		ok "$1 is free of races ($(samples) samples)"
		return
	fi
	diag_file "$work/err" 60
}

# The letter is, soon or in one of two longer tries.
is_racy()
{
	local try seconds

	for try in 1 2 3; do
		seconds=$((10 * try * try))
		watch "$1" "$seconds" race $(($2 + 1000 * try)) --halt-on-race
		[ "$status" -eq 0 ] || break
	done
	is "$1 and a letter that changes" "$status" 66 ||
		diag_file "$work/err"
}

check()
{
	local function

	# shellcheck disable=SC2086 # words
	for function in $1; do
		is_free "$function" "$2"
		is_racy "$function" "$2"
	done
}

# musl's loops over words; the names of its functions, as it is linked in.
musl_short="strlen strchr_none strcmp memchr_none strcpy memccpy"
musl()
{
	program=$TARGETS_DIR/strings.musl
	if ! command -v musl-gcc >/dev/null || [ ! -x "$program" ]; then
		skip "musl's string functions" "there is no musl-gcc"
		return
	fi
	[ -n "$LONG" ] && musl_short=$("$program" list)
	check "$musl_short" "$1"
}

program=$TARGETS_DIR/strings.O2
all=$short
[ -n "$LONG" ] && all=$("$program" list)
for seed in $(seeds 1); do
	check "$all" "$seed"
	export GLIBC_TUNABLES=$sse2
	check "$all" "$seed"
	[ -n "$LONG" ] && GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512VL \
		check "$all" "$seed"
	unset GLIBC_TUNABLES
done
for seed in $(seeds 1); do
	musl "$seed"
done

finish
