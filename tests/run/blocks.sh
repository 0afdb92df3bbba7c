#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The block of malloc(3) that has the raced bytes: that of the program's own output,
# or none. No other block is named, where memory looks as if it had one.

. "$(dirname "$0")/../lib.sh"

# told: the block that the program has printed: ADDRESS ROOM OFFSET
told()
{
	sed -n 's/^block //p' "$work/out"
}

# named: the one that is reported, of the same form; null if none is
named()
{
	local member values

	records --print sides.0.tid "$report" type=race variable.block=null \
		>"$work/none" && echo null && return
	for member in address size offset; do
		values+=" $(records --print "variable.block.$member" "$report" \
			type=race | head -n 1)"
	done
	echo "${values# }"
}

seed=200
# block VARIANT KIND found|none|right [STATE]: right: found, or none
block()
{
	local what="$2, $1" wanted

	[ -x "$TARGETS_DIR/blocks.$1" ] || {
		skip "$what" "it was not built"
		return
	}
	seed=$((seed + 1))
	meet "$seed" --replay off -- "$TARGETS_DIR/blocks.$1" 20 "$2"
	wanted=$(told)
	if [ "$3" = none ] || { [ "$3" = right ] && [ "$(named)" = null ]; }; then
		wanted=null
	fi
	is "$what" "$(named)" "$wanted"
	[ "$#" -lt 4 ] ||
		has "$what: $4" "$report" type=race "variable.block.state=$4"
}

# value MEMBER: the 8 bytes of the race as an address
value()
{
	local bytes

	bytes=$(records --print "$1" "$report" type=race | head -n 1)
	printf '0x%x\n' "0x$(fold -w 2 <<<"$bytes" | tac | tr -d '\n')"
}

# Each word has the address of its block, unless it was written before.
replaced()
{
	local address what="replaced, $1"

	meet "$1" --replay off -- "$TARGETS_DIR/blocks_replaced.O2" 20
	address=$(named)
	address=${address%% *}
	case $address in
	"$(value before)" | "$(value after)") ok "$what" ;;
	null) ok "$what (no block is named)" ;;
	*) is "$what" "$address" "$(value after)" ;;
	esac
}

if skip_lacking registers "heap blocks"; then
	finish
fi
block O0 main found null
line='^  .*heap at 0x[0-9a-f]+, bytes 40\.\.47 of struct session, in a block at 0x[0-9a-f]+ with room for 56 bytes$'
matches "as text" "$work/err" "$line"
"$RACEWATCH" report "$report" >"$work/again"
matches "of a saved report" "$work/again" "$line"
block O2 main found
block static main found
block stripped main found
matches "the bytes, if nothing is known of them" "$work/err" \
	'heap at 0x[0-9a-f]+, bytes 40\.\.47 of a block at'
block O2 arena found null
block static arena found
block O2 mapped found in-use
for alignment in 32 64 4096 65536 2097152; do
	block O2 aligned-$alignment found in-use
done
block O2 freed found free
block O2 parts found in-use
block O2 over-freed right
block O2 mapping none
block O2 numbers none
for kind in main arena mapped parts; do
	block musl $kind none
done
for seed in 1 2 3 4 5 6; do
	replaced "$seed"
done
finish
