#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Elements of the containers of the C++ library have the names that one would write;
# memory that is in none has no such name.

. "$(dirname "$0")/../lib.sh"

seed=300
# element KIND NAME: both optimized and not
element()
{
	local variant

	for variant in O0 O2; do
		in_turn 2 "$1, $variant" || continue
		seed=$((seed + 1))
		meet "$seed" --replay off -- \
			"$TARGETS_DIR/containers.$variant" 20 "$1"
		is "$1, $variant" "$(records --print variable.name "$report" \
			type=race | head -n 1)" "$2"
	done
}

if skip_lacking registers "elements of containers"; then
	finish
fi
element map 'reg.items["k7"].used'
element number 'reg.counts[-7]'
element pointer 'other->counts[7]'
element set 'reg.members[?].used'
element unordered 'reg.table[77].used'
element string 'reg.names["k50"].used'
element dotted 'reg.names[?].used'
element deque 'reg.queue[40].used'
element last 'reg.queue[69].first'
element list 'reg.chain[?].used'
element forward-list 'reg.stack[?].used'
element vector 'reg.row[9].used'
# what the containers have themselves
element map-size 'reg.items.size()'
element unordered-size 'reg.table.size()'
element list-size 'reg.chain.size()'
element string-size 'reg.name.size()'
element vector-end 'reg.row.end()'
element optional 'reg.maybe->used'
# one in an element of another one, and what only looks like a node
element nested null
# the links may be followed by some room
element aligned null
element aligned-list null
element long-double null
element copied null
finish
