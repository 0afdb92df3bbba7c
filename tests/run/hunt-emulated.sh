#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt --recorder qemu: a program that calls pthread_cancel(3), by which it
# crashes or hangs under QEMU, and one that reads by io_uring, which QEMU refuses.
# What was not recorded is named, and `auto' takes another recorder, whose hunt
# provokes the race before. The accesses are 20 ms apart, held for 500 ms.

. "$(dirname "$0")/../lib.sh"

program=$TARGETS_DIR/unemulated.O2

skip_lacking registers "hunt" && finish
if [ ! -x /usr/bin/qemu-x86_64 ]; then
	skip "by QEMU" "qemu-x86_64 is not installed"
	finish
fi

# where a machine does not allow it, the program says so by itself
"$program" ring >"$work/out" 2>&1 </dev/null
ring=$?

# without Valgrind, `auto' comes to QEMU first
mkdir -p "$work/qemu/src/recorder"
ln -s "$(dirname "$(realpath "$RACEWATCH")")/src/recorder/qemu" \
	"$work/qemu/src/recorder/qemu"
cp "$RACEWATCH" "$work/qemu/racewatch"

# hunted RECORDER WHAT OPTION...: it ends under QEMU, if only after 5 s
hunted()
{
	RUN_TIMEOUT=120 run hunt -o "$report" --recorder "$1" --timeout 5s \
		--hold 500ms "${@:3}" -- "$program" "$2"
}

declare -A names=(
	[cancel]="pthread_cancel: QEMU does not handle its signal"
	[ring]="io_uring: QEMU says that the kernel lacks it")
built=$RACEWATCH
for what in cancel ring; do
	RACEWATCH=$built
	hunted qemu "$what" --budget 1ms
	matches "$what: it is named" "$work/err" \
		"trace[.][0-9]*: not recorded: ${names[$what]}"
	is "$what: once" "$(grep -c "${names[$what]}" "$work/err")" 1
	has "$what: what was before is recorded" "$report" type=target \
		side.function=first_write

	RACEWATCH=$work/qemu/racewatch
	if [ "$what" = ring ] && [ "$ring" -ne 0 ]; then
		echo "# SKIP io_uring: this machine does not allow it"
		continue
	fi
	hunted auto "$what"
	is "$what, auto: exit status" "$status" 66 || diag_file "$work/err"
	matches "$what, auto: it is the reason for another recorder" \
		"$work/err" "not recorded by qemu: ${names[$what]}"
	matches "$what, auto: which is named" "$work/err" \
		"recorded by breakpoints: "
	has "$what, auto: the race is provoked" "$report" type=race \
		evidence=provoked
done

finish
