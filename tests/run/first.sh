#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The first breakpoints of a program that is attached to are drawn from its
# executable; a large library, which takes long to read, joins after that.

. "$(dirname "$0")/../lib.sh"

# Large by the pages that it has mapped.
cat >"$work/large.c" <<'EOF'
static char pages[64 << 20];

long large_get(long at)
{
	return pages[at]++;
}
EOF
if ! gcc -g0 -O1 -shared -fPIC -nostartfiles -o "$work/large.so" \
	"$work/large.c"; then
	skip "a large library does not delay the first draw" "no compiler"
	finish
fi
LD_PRELOAD=$work/large.so "$TARGETS_DIR/global.O2" 60 >"$work/out" &
pid=$!
lib_started "$pid"
until grep -q large.so "/proc/$pid/maps" || [ ! -d "/proc/$pid" ]; do sleep 0.05; done
"$RACEWATCH" attach --debug detect,image --duration 60s "$pid" \
	>"$work/out" 2>"$work/err" &
watching=$!
until grep -q 'large.so: 1 of 1 functions$' "$work/err" ||
	[ ! -d "/proc/$watching" ]; do sleep 0.05; done
kill "$watching"
wait "$watching"
kill "$pid"

# What is drawn is decoded first, for which the debug information is read.
sed -n -e 's|^.*/\(global.O2\): debug information read$|\1|p' \
	-e 's|^.*/\(large.so\): 1 of 1 functions$|\1|p' "$work/err" \
	>"$work/order"
is "what has joined is drawn from before a large library joins" \
	"$(paste -sd' ' "$work/order")" "global.O2 large.so" ||
	diag_file "$work/err" 40

finish
