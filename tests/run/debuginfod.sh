#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Debugging information from a debuginfod server: only when asked for, and
# never waited for without end.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

if ! type debuginfod >/dev/null 2>&1; then
	skip "names from a server" "debuginfod is not installed"
	finish
fi

mkdir "$work/bin" "$work/debug" "$work/home"
program=$work/bin/heap
cp "$TARGETS_DIR/heap.O2" "$program"
objcopy --only-keep-debug "$program" "$work/debug/heap.debug"
strip --strip-all "$program"
id=$(readelf -n "$program" | sed -n 's/.*Build ID: *//p')

port=$((20000 + $$ % 20000))
debuginfod -F -vv -d "$work/base.sqlite" -p "$port" "$work/debug" \
	>"$work/server" 2>&1 &
server=$!
lib_started "$server"

export HOME=$work/home XDG_CACHE_HOME=$work/home
export DEBUGINFOD_URLS=http://127.0.0.1:$port

# By its metrics: the log tells of beginnings.
scanned()
{
	exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
	printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3
	grep -q '^found_debuginfo_total{.*} [1-9]' <&3
} 2>/dev/null

# race OPTION...: until the race is found
race()
{
	rm -f "$report"
	run run --seed 1 --halt-on-race --duration 30s -o "$report" "$@" -- \
		"$program" 40
	is "$*: exit status" "$status" 66 || diag_file "$work/err"
}

if ! await 30 scanned; then
	not_ok "the server has scanned its folder"
	diag_file "$work/server"
	finish
fi

race
if grep -q 'node->used\|node_fill' "$report"; then
	not_ok "not asked: no names"
else
	ok "not asked: no names"
fi
if grep -q 'GET /buildid' "$work/server"; then
	not_ok "not asked: no request"
	diag_file "$work/server"
else
	ok "not asked: no request"
fi

race --debuginfod
seen_by=
lacks registers && seen_by=value # which sees one side
if as_expected heap "$seen_by"; then
	ok "asked: names"
else
	not_ok "asked: names"
	diag_file "$work/check"
	diag_file "$work/err"
	diag_file "$work/server"
fi
matches "asked: a request" "$work/server" "GET /buildid/$id/debuginfo"

# The kernel still takes its connections.
kill -STOP "$server"
rm -rf "${work:?}/home"
mkdir "$work/home"
race --debuginfod
matches "a silent server is given up" "$work/err" "from debuginfod within"

finish
