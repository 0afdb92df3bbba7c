#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What test scripts rely on: records of JSON that meet conditions
# (tests/helpers/select.h), and the check of `make lint' that no script searches
# JSON by a pattern.

. "$(dirname "$0")/../lib.sh"

sources=$(realpath "$top_srcdir")

# --- records

cat >"$work/json" <<'END'
{"type":"run","modules":[],"seed":7}
{"type":"race","id":1,"variable":{"name":null},
 "sides":[{"role":"stalled","frames":[{"function":"put"}]},{"role":"unknown"}]}
{"type":"race","id":2,"a.b":1.5,"known":true,"text":"a b"}
no JSON, and {
{"type":"summ
END
# of DESCRIPTION IDS CONDITION...: the races that meet these
of()
{
	is "$1" "$(records --print id "$work/json" "${@:3}" | tr '\n' ' ')" "$2"
}
of "a string" "1 2 " type=race
of "a pattern" "1 2 " type=r*e
of "a number" "2 " id=2
of "all conditions" "" id=2 type=run
of "null is a value" "1 " variable.name=null
of "true is one" "2 " known=true
of "an index" "1 " sides.0.role=stalled
of "another index" "" sides.1.role=stalled
of "any member" "1 " sides.*.role=unknown
of "deeper" "1 " sides.*.frames.*.function=put
of "not equal" "2 " type=race id!=1
of "nothing there is not equal" "2 " type=race sides!=*
of "an empty list is a value" "- " modules=*
of "which has no member" "- " type=run modules.0!=*
is "a number of records" "$(records --count "$work/json" type=race)" 2
is "none" "$(records --count "$work/json" type=crash; echo $?)" "0
1"
is "no file" "$(records --count "$work/none" type=race; echo $?)" "0
1"
is "several values, and one that is not there" \
	"$(records --print 'sides.*.role text id' "$work/json" type=race)" \
	"stalled,unknown - 1
- a b 2"
records "$work/json" nothing 2>"$work/err"
is "no condition: 2" $? 2

# --- lint

lint=$work/lint
mkdir -p "$lint/contrib/lint" "$lint/tests/run" "$lint/tests/fault"
cp "$sources"/contrib/lint/{lib.sh,check-json} "$lint/contrib/lint"
cp "$sources"/tests/lib.sh "$lint/tests"
# linted DESCRIPTION WANTED: of the script on standard input
linted()
{
	cat >"$lint/tests/run/a.sh"
	cp "$lint/tests/run/a.sh" "$lint/tests/fault/b.sh"
	(cd "$lint" && contrib/lint/check-json) >"$work/said" 2>&1
	is "lint: $1" "$?" "$2" || diag_file "$work/said"
}
# The keys are put in here, for this script is checked too.
key='"type"'
linted "a script without JSON" 0 <<<'grep -q it file'
linted "a key is searched for" 1 <<<"grep -q '$key: *x' file"
matches "the place is named" "$work/said" 'tests/run/a.sh:1: '
linted "a key in quotes" 1 <<<"grep -q \"${key//\"/\\\"}:x\" file"
linted "in the next line" 1 <<<"matches \"it\" file \\
	'$key:x'"
linted "by sed" 1 <<<"sed -n 's/.*$key:x/y/p' file"
linted "JSON is written, and bent" 0 <<<"echo '{$key:1}' >file
sed 's/$key:1/$key:2/' file
cat >file <<'END'
grep {$key:1}
END"

finish
