#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The judges themselves: pristine sees a changed byte of text and a thread
# that is traced; check-report tells a right report from wrong ones. A judge
# that lets everything pass would hide every fault.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

"$TARGETS_DIR/wait_forever.nopie" >"$work/out" &
program=$!
lib_started "$program"
await 10 program_ready || exit 99
"$HELPERS_DIR/pristine" "$program" 2>"$work/err"
is "an untouched program is pristine" "$?" 0 || diag_file "$work/err"

# One byte of main(), which is never run again, at its fixed address.
address=$(nm "$TARGETS_DIR/wait_forever.nopie" | sed -n 's/ T main$//p')
poke()
{
	printf %b "$1" | dd of="/proc/$program/mem" bs=1 conv=notrunc \
		seek=$((16#$address)) status=none
}
byte=$(dd if="/proc/$program/mem" bs=1 count=1 skip=$((16#$address)) \
	status=none | od -An -tx1 | tr -d ' ')
poke '\xcc'
"$HELPERS_DIR/pristine" "$program" 2>"$work/err"
is "a breakpoint left behind is seen" "$?" 1
matches "and named" "$work/err" ' is cc, not '
poke "\\x$byte"
"$HELPERS_DIR/pristine" "$program" 2>"$work/err"
is "and gone when it is put back" "$?" 0 || diag_file "$work/err"
kill -9 "$program"

: >"$work/out"
"$HELPERS_DIR/under-tracer" "$TARGETS_DIR/wait_forever.nopie" >"$work/out" &
tracer=$!
lib_started "$tracer"
await 10 program_ready || exit 99
program=$(sed -n 's/^ready //p' "$work/out")
"$HELPERS_DIR/pristine" "$program" 2>"$work/err"
is "a traced thread is seen" "$?" 1
kill -9 "$tracer"

# A report made by hand for read_write.c, then bent in one place at a time.
line_of()
{
	sed -n "/RACE: $1 /=" "$SOURCES/read_write.c"
}
frame()
{
	echo "{\"function\":\"$1\",\"line\":$2,\"file\":\"read_write.c\"," \
		"\"module\":\"read_write\",\"offset\":\"0x1\",\"inlined\":false}"
}
side()
{
	echo "{\"role\":\"$1\",\"access\":\"$2\",\"size\":8," \
		"\"frames\":[$(frame "$3" "$4")]}"
}
record()
{
	cat <<-END | tr '\n' ' '
	{"type":"race","id":1,"time":"t","fingerprint":"f",
	"fingerprint_code":"c","kind":"write-read","evidence":"watchpoint",
	"address":"0x1","verdict":"suspect","size":8,"count":1,
	"variable":{"name":"level","symbol":"level","region":"global"},
	"sides":[$(side stalled write set_level "$(line_of set)"),
	$(side racing read get_level "$(line_of get)")]}
	END
	echo
}
record_file()
{
	echo '{"type":"run","schema":1,"pid":1,"backend":"perf","command":[],"modules":[]}'
	record | sed "$1"
	echo '{"type":"summary","races":1,"new":1,"suppressed":0,"samples":1,"sites_sampled":1,"sites_eligible":1,"watchpoint_traps":1,"exit":66}'
}
judged()
{
	record_file "$3" >"$report"
	as_expected read_write
	is "$1" "$?" "$2" || diag_file "$work/check"
}
judged "the right report" 0 ''
judged "a wrong function" 1 's/get_level/got_level/'
judged "a wrong line" 1 "s/\"line\":$(line_of get)/\"line\":1/"
judged "a wrong variable" 1 's/"name":"level"/"name":"other"/'
judged "a wrong kind" 1 's/write-read/write-write/'
judged "a wrong direction" 1 's/"access":"write"/"access":"read"/'
judged "a wrong size" 1 's/"size":8/"size":4/g'
judged "one side missing" 1 's/"frames":\[{[^]]*get_level[^]]*\]/"frames":[]/'
judged "no race at all" 1 '/race/d'
judged "no fingerprint" 1 's/"fingerprint":"f",//'

finish
