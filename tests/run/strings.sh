#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# String functions load more than they use. With counters beside a constant
# string that other threads change, nothing is reported, of any rank; when they
# change a letter of it, that is. In a long run all functions of
# tests/targets/strings.c, with the variants that glibc can be told to take. The
# same for musl, whose functions load words of 8 bytes. The runs take turns with
# the back-ends, beginning with another for each seed.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-used.sh"

# A string search, a comparison, one with a length, a copy, wide characters, one
# with instructions of its own, one with masked loads, and repeated string
# instructions.
short="strlen strcmp memchr_none strcpy wcslen strspn strstr scas"
# Repeated string instructions, the last of all, stay as they are.
sse2=glibc.cpu.hwcaps=-AVX512VL,-AVX2,-SSE4_2,-SSE4_1,-SSSE3

check()
{
	local function

	used_tells
	# shellcheck disable=SC2086 # words
	for function in $1; do
		in_turn 3 "$function" || continue
		used_free "$function" "$2"
		used_shows "$function" && used_racy "$function" "$2"
	done
	# the same functions, other back-ends
	used_turn=$((used_turn + 1))
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

used_find_backends
program=$TARGETS_DIR/strings.O2
all=$short
[ -n "$LONG" ] && all=$("$program" list)
for seed in $(seeds 1); do
	used_turn=$seed
	check "$all" "$seed"
	export GLIBC_TUNABLES=$sse2
	check "${all% scas}" "$seed"
	[ -n "$LONG" ] && GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512VL \
		check "$all" "$seed"
	unset GLIBC_TUNABLES
done
for seed in $(seeds 1); do
	musl "$seed"
done

finish
