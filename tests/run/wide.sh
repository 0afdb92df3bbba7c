#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Vectorized loops, bit-fields, copies of structures, repeated string
# instructions and masked moves: what they load, or could store, is wider than
# what they use. With neighbours that other threads change, nothing is reported,
# of any rank; when they change what is used, that is. In a long run all loops of
# tests/targets/strided.c and all cases of tests/targets/wide.c, by each
# compiler and at each level of optimization.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-used.sh"

# In a short run.
loops="pairs_sse2 octets_avx2 shorts_avx512 points_avx2 triples_avx512
	numbers_avx2"
# Of clang those with wider adds, comparisons, selections and masked scalars.
clang_loops="shorts_sse2 numbers_sse2 shorts_avx2 reals_avx2 shorts_avx512
	reals_avx512"
cases="bits_equal both movsb_down cmpsb_ends maskstore store_512_high maskload"

# check NAME...: those that this processor has
check()
{
	local name

	used_tells
	for name; do
		"$program" list | grep -qx "$name" || continue
		in_turn 4 "$name" || continue
		used_free "$name" "$seed"
		used_shows "$name" && used_racy "$name" "$seed"
	done
	used_turn=$((used_turn + 1))
}

# A byte beside those used may have its value back when the report is put
# together, so that nothing seems to have changed. When a change is not taken as
# it was seen, about one run of ten is silent.
check_change()
{
	used_only value && used_free both "$1" 10
}

used_find_backends
loop_variants="O2 clang"
case_variants=O2
if [ -n "$LONG" ]; then
	case_variants="O0 O2 O3 clang"
	loops=$("$TARGETS_DIR/strided.O2" list)
	clang_loops=$loops
	cases=$("$TARGETS_DIR/wide.O2" list)
fi
# shellcheck disable=SC2086 # words
for seed in $(seeds 1); do
	used_turn=$seed
	for variant in $loop_variants; do
		program=$TARGETS_DIR/strided.$variant
		if [ "$variant" = clang ]; then
			check $clang_loops
		else
			check $loops
		fi
	done
	for variant in $case_variants; do
		program=$TARGETS_DIR/wide.$variant
		check $cases
	done
	check_change "$seed"
done

finish
