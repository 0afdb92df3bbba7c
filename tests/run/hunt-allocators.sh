#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt of programs with other allocators than glibc's, which are preloaded:
# the raced bytes are in a block of its size, allocated by the function that called
# the allocator, and their history begins with it: an older block at that address is
# not part of it.
#
# Races are met as in hunt-languages.sh.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

skip_lacking registers "hunts with other allocators" && finish

# hunted NAME SIZE FUNCTION WRITER COMMAND...: the race is in such a block, and its
# history has WRITER once
hunted()
{
	RUN_TIMEOUT=120 run hunt -q -o "$report" --hold 500ms -- "${@:5}"
	is "$1: exit status" "$status" 66 || diag_file "$work/err"
	has "$1: in a block of $2 bytes of $3" "$report" type=race \
		evidence=provoked recorded.block.size="$2" \
		"recorded.block.allocated.0.function=*$3*"
	is "$1: its history begins with the block" \
		"$(records --print recorded.accesses.*.frames.0.function \
			"$report" type=race | tail -n 1 | tr , '\n' |
			grep -c "$4")" 1
}

# with NAME [PRELOADED]: each function that allocates
with()
{
	local kind command=()

	if [ -n "${2:-}" ]; then
		command=(env LD_PRELOAD="$2")
		if ! "${command[@]}" cat /proc/self/maps 2>/dev/null |
			grep -q "/$2"; then
			skip "$1" "there is no $2 here"
			return
		fi
	fi
	for kind in malloc calloc realloc aligned posix; do
		in_turn 5 "$1, $kind" || continue
		hunted "$1, $kind" 208 "make_$kind" write_first \
			"${command[@]}" "$T/hunted_heap.O2" $kind
	done
	hunted "$1, new[]" 800 make_array add_first "${command[@]}" \
		"$T/hunted_cpp.O2" array
	hunted "$1, aligned new" 64 make_line add_first "${command[@]}" \
		"$T/hunted_cpp.O2" aligned
}

with glibc
with jemalloc libjemalloc.so.2
with tcmalloc libtcmalloc_minimal.so.4
with mimalloc libmimalloc.so.2
hunted "linked statically" 208 make_malloc write_first \
	"$T/hunted_heap.static" malloc
RUN_TIMEOUT=120 run hunt -o "$report" --hold 500ms -- "$T/hunted_heap.twin" \
	malloc
is "twin: exit status" "$status" 0
is "twin: no race" "$(races_in "$report")" 0
has "twin: there are sides" "$report" type=target

finish
