#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The JSON Schema, racewatch-json(5) and what is written agree: every record of
# the unit tests and of real runs is valid and has just the members that the
# schema lists, and the manual names just these.

. "$(dirname "$0")/../lib.sh"

schema=$top_srcdir/man/racewatch-json.schema.json
manual=$top_srcdir/man/racewatch-json.5
check=$top_srcdir/tests/helpers/check-schema.py
unit=${abs_top_builddir:-$top_srcdir/build}/tests/unit/test_record

if ! python3 -c 'import jsonschema' 2>/dev/null; then
	skip "reports agree with the schema" "no python3-jsonschema"
	finish
fi

# valid DESCRIPTION REPORT...
valid()
{
	local description=$1

	shift
	python3 "$check" "$schema" "$manual" "$@" >"$work/out" 2>"$work/err"
	is "$description" $? 0 || diag_file "$work/err"
}

RACEWATCH_TEST_RECORDS=$work/records "$unit" >/dev/null 2>&1
is "the unit test wrote its records" $? 0
valid "they are valid" "$work/records"
for type in run race progress crash target summary; do
	matches "with some of type $type" "$work/out" "$type=[1-9]"
done

# A program that hardly gets to run may end before its race is seen: one run in
# some tens at a load of 30.
for target in global heap cpp_vector; do
	tries seed 1 2 3 4 5
	while next_try seed; do
		timeout 120 "$RACEWATCH" run --seed "$seed" --halt-on-race \
			-o "$work/$target.jsonl" -- "$TARGETS_DIR/$target.O2" \
			>/dev/null 2>&1
		[ $? -ne 66 ] || break
	done
done
valid "real runs are" "$work/global.jsonl" "$work/heap.jsonl" \
	"$work/cpp_vector.jsonl"
matches "with a race each" "$work/out" 'race=[3-9]'
"$RACEWATCH" report --format json "$work"/*.jsonl >"$work/merged"
valid "a merged report is" "$work/merged"
"$RACEWATCH" report --diff --format json "$work/global.jsonl" \
	"$work/heap.jsonl" >"$work/diff"
valid "a comparison is" "$work/diff"
"$RACEWATCH" doctor --format json >"$work/doctor" 2>/dev/null
valid "the doctor's checks are" "$work/doctor"

# The judge itself must see what is wrong.
sed 's/"size":4/"size":-4/' "$work/global.jsonl" >"$work/bent"
python3 "$check" "$schema" "$manual" "$work/bent" >/dev/null 2>&1
is "a wrong value is seen" $? 1
sed 's/"size":4/"width":4/' "$work/global.jsonl" >"$work/bent"
python3 "$check" "$schema" "$manual" "$work/bent" >/dev/null 2>&1
is "a member of another name is seen" $? 1
sed 's/It Va dropped/It Va lost/' "$manual" >"$work/manual"
python3 "$check" "$schema" "$work/manual" >/dev/null 2>&1
is "a manual that lacks one is seen" $? 1

finish
