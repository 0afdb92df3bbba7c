#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The cache of tables: where the functions of a large file are is kept by its
# build id, and used as long as the file is the same. What is damaged there is
# not used, and replaced. A table that is used is not written again.

. "$(dirname "$0")/../lib.sh"

library=$(ldd "$TARGETS_DIR/global.O2" | sed -n 's/.*=> \(.*libc\.so\.6\) .*/\1/p')
id=$(readelf -n "$library" 2>/dev/null | sed -n 's/.*Build ID: //p')
tables=$XDG_CACHE_HOME/racewatch/$id.tables

# sites DESCRIPTION: the sites of the library are those that were found at first
sites()
{
	"$RACEWATCH" sites "$library" >"$work/sites" 2>&1
	[ -s "$work/first" ] || cp "$work/sites" "$work/first"
	is "$1" "$(md5sum <"$work/sites")" "$(md5sum <"$work/first")"
}

# Which file it is, whoever has written it.
written()
{
	stat -c '%i %y' "$tables"
}

if [ -z "$id" ]; then
	skip "tables are kept" "the C library has no build id"
	finish
fi
RACEWATCH_CACHE=off sites "sites are found without a cache"
matches "there are some" "$work/first" "$library|libc"
is "and nothing is left" "$(ls "$XDG_CACHE_HOME" 2>/dev/null)" ""
sites "the first run finds the same"
is "and leaves a file that is ours alone" "$(stat -c '%a %u' "$tables")" \
	"600 $EUID"
first=$(written)
sites "the second one, too"
is "and uses that file" "$(written)" "$first"

printf 'XYZ' | dd of="$tables" bs=1 seek=2000 conv=notrunc status=none
damaged=$(written)
sites "a damaged file changes nothing"
is "and is replaced" "$([ "$(written)" = "$damaged" ] || echo yes)" yes

chmod go+w "$tables"
others=$(written)
sites "what others may write to changes nothing"
is "and is replaced, too" "$([ "$(written)" = "$others" ] || echo yes)" yes

rm -r "$XDG_CACHE_HOME/racewatch"
sites "what was deleted is not missed"
is "and is made anew" "$(stat -c %a "$tables")" 600

finish
