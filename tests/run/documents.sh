#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The formats of --format that are documents: SARIF by its published schema,
# JUnit XML by ours, HTML by a browser. Both what unit tests compare with, which
# has every member and hostile names, and what a run writes: when it ends, is
# interrupted, fails, and where there is no room for it.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

data=$top_srcdir/tests/data
target=$TARGETS_DIR/array_element.O2

sarif_is_valid()
{
	local status

	"$top_srcdir/tests/helpers/check-json" \
		"$data/sarif-2.1.0-rtm.5.json" "${@:2}" 2>"$work/check"
	status=$?
	if [ "$status" -eq 77 ]; then
		skip "$1" "python3-jsonschema is missing"
		return
	fi
	is "$1" "$status" 0 || diag_file "$work/check"
}

junit_is_valid()
{
	if ! command -v xmllint >/dev/null; then
		skip "$1" "xmllint is missing"
		return
	fi
	xmllint --noout --nonet --schema "$data/junit.xsd" "${@:2}" \
		2>"$work/check"
	is "$1" "$?" 0 || diag_file "$work/check"
}

# --- what unit tests compare with

sarif_is_valid "every SARIF of the unit tests is valid" "$data"/report*.sarif
sed 's/"level": "error"/"level": "dreadful"/' "$data/report.sarif" \
	>"$work/wrong.sarif"
"$top_srcdir/tests/helpers/check-json" "$data/sarif-2.1.0-rtm.5.json" \
	"$work/wrong.sarif" 2>/dev/null
case $? in
77) skip "and a wrong one is not" "python3-jsonschema is missing" ;;
*) is "and a wrong one is not" "$?" 1 ;;
esac
junit_is_valid "every JUnit XML of the unit tests is valid" "$data"/report*.xml
if command -v xmllint >/dev/null; then
	sed 's/ time="/ tme="/' "$data/report.xml" >"$work/wrong.xml"
	xmllint --noout --nonet --schema "$data/junit.xsd" "$work/wrong.xml" \
		2>/dev/null
	is "and a wrong one is not" "$?" 3
fi

# --- what runs write

for format in sarif junit html text; do
	tries seed 1 1001 2001
	while next_try seed; do
		run run -q --seed "$seed" --halt-on-race --source \
			--format "$format" -o "$work/run.$format" -- \
			"$target" 25
		[ "$status" -eq 0 ] || break
	done
	is "a run with --format $format finds the race" "$status" 66 ||
		diag_file "$work/err"
	matches "and its report names a function" "$work/run.$format" table_get
	matches "and the source line" "$work/run.$format" 'RACE: [gs]et'
done
sarif_is_valid "SARIF of a run is valid" "$work/run.sarif"
junit_is_valid "JUnit XML of a run is valid" "$work/run.junit"

tries seed 1 1001 2001
while next_try seed; do
	run run -q --seed "$seed" --halt-on-race --format junit -- "$target" 25
	[ "$status" -eq 0 ] || break
done
sed -n '/^<?xml/,$p' "$work/out" >"$work/stdout.xml"
junit_is_valid "without -o it goes to standard output" "$work/stdout.xml"

# --- runs that end otherwise

"$target" 120 >/dev/null &
program=$!
lib_started "$program"
# else what an earlier run has told may be read
: >"$work/err"
"$RACEWATCH" attach -q --seed 1 --rate 1000 --stall 1ms --format sarif \
	-o "$work/int.sarif" "$program" 2>"$work/err" &
watcher=$!
lib_started "$watcher"
# it says so when it watches: a race is caught
await 110 grep -q 'data race' "$work/err"
kill -INT "$watcher"
wait "$watcher"
is "attach that is interrupted exits for its race" "$?" 66 ||
	diag_file "$work/err"
sarif_is_valid "and has written its document" "$work/int.sarif"
matches "with the end in it" "$work/int.sarif" '"exitCode": 66'
kill "$program" 2>/dev/null

# Asked to end while the document is being written, which is all that is left
# to do, it completes it; asked once more it ends at once.

# Does the watcher wait for a reader of its document, and would spare a signal?
writes()
{
	local number fd

	read -r number fd _ 2>/dev/null <"/proc/$watcher/syscall" &&
		[ "$number" = 1 ] && spares &&
		[ "$(readlink "/proc/$watcher/fd/$((fd))")" = "$work/slow" ]
}

spares()
{
	(($(sed -n 's/^SigCgt:[[:space:]]*/0x/p' "/proc/$watcher/status") &
		1 << 14)) # SIGTERM
}

has_spared()
{
	! spares
}

# run_slowly: runs until all that is left is to write more than a pipe takes.
run_slowly()
{
	rm -f "$work/slow"
	mkfifo "$work/slow"
	exec {pipe}<>"$work/slow"
	python3 -c 'import fcntl, sys
fcntl.fcntl(int(sys.argv[1]), 1031, 4096) # F_SETPIPE_SZ' "$pipe"
	"$RACEWATCH" run -q --seed 1 --rate 1000 --halt-on-race --format sarif \
		-o "$work/slow" -- "$target" 60 >/dev/null 2>"$work/err" \
		{pipe}<&- &
	watcher=$!
	lib_started "$watcher"
	await 90 writes || not_ok "the document does not fill a pipe of a page"
	kill -TERM "$watcher"
	await 20 has_spared || not_ok "a signal is spared"
}

run_slowly
exec {reader}<"$work/slow" {pipe}<&-
cat <&"$reader" >"$work/slow.sarif"
exec {reader}<&-
wait "$watcher"
is "a signal when the end has come is without effect" "$?" 66 ||
	diag_file "$work/err"
sarif_is_valid "and the document is whole" "$work/slow.sarif"
run_slowly
kill -TERM "$watcher"
wait "$watcher"
is "a second one ends it" "$?" 143
exec {pipe}<&-

rm -f "$work/failed.xml"
"$HELPERS_DIR/deny-syscall" SEIZE "$RACEWATCH" run -q --format junit \
	-o "$work/failed.xml" -- "$target" >/dev/null 2>"$work/err"
is "a run that cannot watch fails" "$?" 125
junit_is_valid "and has written its document" "$work/failed.xml"
matches "which tells it" "$work/failed.xml" '<error .*racewatch failed'

for format in json sarif junit html; do
	run run -q --format "$format" -o /dev/full -- sh -c 'echo unharmed'
	is "a full disk makes --format $format fail" "$status" 125
	matches "naming the file" "$work/err" 'error: /dev/full: .*No space'
	matches "with the program unharmed" "$work/out" unharmed
done

# The reader goes at once; the program's output goes elsewhere.
cat >"$work/wait.sh" <<'SCRIPT'
while [ ! -e "$1" ]; do sleep 0.1; done
echo unharmed >&2
SCRIPT
"$RACEWATCH" run -q --format html -- sh "$work/wait.sh" "$work/gone" \
	2>"$work/err" | { exec <&-; : >"$work/gone"; }
is "a reader that goes is no error" "${PIPESTATUS[0]}" 0
is "and nothing is said of it" "$(grep -c 'error:' "$work/err")" 0
matches "with the program unharmed" "$work/err" unharmed

# --- HTML in a browser: the console is silent, and nothing may be fetched

# The page of the unit tests with the style and the script put back.
page()
{
	awk -v css="$top_srcdir/src/report/html/report.css" \
		-v js="$top_srcdir/src/report/html/report.js" '
		{ print }
		$0 == "<style>" { while ((getline line <css) > 0) print line }
		$0 == "<script>" { while ((getline line <js) > 0) print line }
	' "$1"
}

browser=$(command -v chromium)
browse()
{
	timeout -k 5 300 "$browser" --headless --no-sandbox --disable-gpu \
		--user-data-dir="$work/browser" --enable-logging=stderr \
		--window-size=1280,2400 "$@" 2>"$work/browser.err" \
		</dev/null
}

if [ -z "$browser" ]; then
	skip "HTML in a browser" "chromium is missing"
	finish
fi
page "$data/report.html" >"$work/many.html"
page "$data/report-none.html" >"$work/none.html"
cp "$work/run.html" "$work/one.html"
for name in many none one; do
	browse --dump-dom "file://$work/$name.html" >"$work/dom"
	is "the browser renders $name.html" "$?" 0 || diag_file "$work/browser.err"
	matches "its script runs" "$work/dom" '<html[^>]* class="js"'
	grep CONSOLE "$work/browser.err" >"$work/console"
	is "without a message on the console" "$(cat "$work/console")" ""
done
matches "races can be filtered" "$work/many.html" 'id="search"'
browse --dump-dom "file://$work/many.html" >"$work/dom"
matches "all are shown at first" "$work/dom" '9 of 9 shown'
grep -q '<script>alert' "$work/many.html"
is "hostile names stay text" "$?" 1

# That silence means something: what would be fetched is refused, and told.
sed 's|<main>|<main><img src="http://racewatch.invalid/x.png">|' \
	"$work/one.html" >"$work/fetch.html"
browse --dump-dom "file://$work/fetch.html" >/dev/null
matches "what would be fetched is refused" "$work/browser.err" \
	'CONSOLE.*Content Security Policy'

# Light and dark differ, and neither is an empty page.
browse --hide-scrollbars --screenshot="$work/light.png" \
	"file://$work/many.html"
browse --hide-scrollbars --blink-settings=preferredColorScheme=0 \
	--screenshot="$work/dark.png" "file://$work/many.html"
for name in light dark; do
	size=$(stat -c %s "$work/$name.png" 2>/dev/null || echo 0)
	[ "$size" -gt 50000 ]
	is "the screenshot in $name shows something" "$?" 0 || diag "$size bytes"
done
cmp -s "$work/light.png" "$work/dark.png"
is "the dark one looks different" "$?" 1
[ -n "${RACEWATCH_SCREENSHOTS:-}" ] &&
	cp "$work"/*.png "$work"/*.html "$RACEWATCH_SCREENSHOTS"
finish
