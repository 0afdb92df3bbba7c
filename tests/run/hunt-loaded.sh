#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt: races in a library that a thread loads, one of them of its
# constructor, also where it is unloaded, and loaded again. The accesses are 20 ms
# apart, by a sleep, and a side is held for 500 ms: the other thread comes unless it
# is kept from running for 480 ms.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

skip_lacking registers "hunt" && finish

# hunted WHAT WANTED-STATUS PROGRAM [ARGUMENT...]
hunted()
{
	RUN_TIMEOUT=120 run hunt -o "$report" --hold 500ms -- "${@:3}"
	is "$1: exit status" "$status" "$2" || diag_file "$work/err"
	is "$1: all of the library is reached" "$(records --count "$report" \
		type=target 'side.place.module=*/loaded_module.so' \
		outcome=unreached)" 0
	is "$1: and tried in time" "$(records --count "$report" \
		type=target 'side.place.module=*/loaded_module.so' \
		outcome=timeout)" 0
}

for variant in O0 O2 nopie; do
	in_turn 3 "$variant" || continue
	for again in "" again; do
		what="$variant${again:+, loaded again}"
		hunted "$what" 66 "$T/loaded.$variant" $again
		for function in begin_write loaded_set; do
			has "$what: $function is provoked" "$report" \
				type=target outcome=provoked \
				side.function=$function \
				'side.place.module=*/loaded_module.so'
		done
	done
done
# breakpoints are set in what is loaded, before it runs
for again in "" again; do
	what="by breakpoints${again:+, loaded again}"
	RUN_TIMEOUT=120 run hunt --recorder breakpoints --budget 1ms \
		-o "$report" -- "$T/loaded.O2" $again
	for function in begin_write help_read loaded_set loaded_get; do
		has "$what: $function is recorded" "$report" type=target \
			side.function=$function \
			'side.place.module=*/loaded_module.so'
	done
done
# its names are read before it is unloaded
hunted "O2, unloaded at once" 66 "$T/loaded.O2" gone
has "O2, unloaded at once: both functions are named" "$report" type=race \
	'sides.0.frames.0.function=loaded_set' \
	'sides.1.frames.0.function=loaded_get'
is "O2, unloaded at once: no race is without names" "$(records --count \
	"$report" type=race 'sides.0.frames.0.function=null')" 0
for again in "" again; do
	what="twin${again:+, loaded again}"
	hunted "$what" 0 "$T/loaded.twin" $again
	is "$what: no race" "$(races_in "$report")" 0
	has "$what: there are sides in the library" "$report" type=target \
		'side.place.module=*/loaded_module.so'
done

finish
