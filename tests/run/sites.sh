#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# `racewatch sites': its counts, its list against objdump, what the globs do,
# stripped files, processes, bad input, and a large library.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
target=$T/struct_field.O2

# total FIELD [ARG...]: a number of the last line of the JSON output
total()
{
	local field=$1

	shift
	"$RACEWATCH" sites --format json "$@" 2>"$work/err" >"$work/total"
	records --print "$field" "$work/total" type=total
}

run sites "$target"
is "a file: 0" "$status" 0
matches "the module is named" "$work/out" "struct_field.O2\$"
matches "sites are counted" "$work/out" '^  sites +[0-9]+$'
matches "rules are counted" "$work/out" '^  stack +[0-9]+$'

# Every instruction is a site or counted under a rule.
left=$("$RACEWATCH" sites "$target" | awk '
	$1 == "instructions" { left += $2 }
	$1 != "instructions" && $1 != "functions" { left -= $2 }
	END { print left }')
is "sites and rules add up to the instructions" "$left" 0

# The list: each line's instruction is one, by objdump.
run sites --list "$target"
is "as many lines as sites" "$(wc -l <"$work/out")" "$(total sites "$target")"
matches "a site has function, line, instruction, access" "$work/out" \
	'^struct_field.O2\+0x[0-9a-f]+	shard_add	.*struct_field.c:[0-9]+	addq .*	read-modify-write	8$'
if command -v objdump >/dev/null; then
	objdump -d "$target" | sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' |
		sort >"$work/starts"
	sed 's/^[^+]*+0x\([0-9a-f]*\).*/\1/' "$work/out" | sort >"$work/sites"
	is "each is the start of an instruction" \
		"$(comm -23 "$work/sites" "$work/starts")" ""
else
	skip "each is the start of an instruction" "no objdump"
fi

# By the source: busy is only accessed by atomic built-in functions, and of
# the plain ledger beside it every access is listed.
run sites --list "$T/free_builtin.O2"
is "atomic loads and stores are known by their lines" \
	"$(grep -c '	busy_\(lock\|unlock\)	' "$work/out")" 0
matches "plain accesses are not" "$work/out" '	ledger_enter	'

run sites --list --format json "$target"
is "JSON lists as many" "$(records --count "$work/out" type=site)" \
	"$(total sites "$target")"
if command -v jq >/dev/null; then
	jq -e . "$work/out" >/dev/null 2>"$work/err"
	is "every line is JSON" $? 0
else
	skip "every line is JSON" "no jq"
fi

# Without symbols functions are known by .eh_frame.
is "a stripped file has as many sites" \
	"$(total sites "$T/read_write.stripped")" \
	"$(total sites "$T/read_write.O2")"

# What the options change.
plain=$(total sites "$target")
[ "$(total sites --include-stack "$target")" -gt "$plain" ]
is "--include-stack adds some" $? 0
is "--exclude of the file leaves none" \
	"$(total sites --exclude 'struct_field*' "$target")" 0
[ "$(total sites --exclude shard_add "$target")" -eq $((plain - 1)) ]
is "--exclude of a function takes its site out" $? 0
is "the last pattern decides" \
	"$(total sites --exclude '*' --include shard_add "$target")" 1
is "a source file can be left out" \
	"$(total sites --exclude struct_field.c --exclude target.h \
		--exclude '_*' "$target")" 0

# The owner of a local whose address a thread is given: by the stack pointer, by
# the frame pointer, captured by a lambda, shared by a task of OpenMP, put into a
# queue that the thread reads.
for local in local_counter:main local_lambda:run_both local_omp:share \
	local_queue:main; do
	name=${local%:*}
	for variant in O2 nopie; do
		"$RACEWATCH" sites --list "$T/$name.$variant" >"$work/out"
		line=$(grep -n 'RACE: look' "$(source_of "$name")" |
			cut -d : -f 1)
		matches "$name.$variant: the local's own access is a site" \
			"$work/out" \
			"	${local#*:}	[^	]*:$line	[^	]*[(]%r[sb]p[)]"
		[ "$(total locals "$T/$name.$variant")" -gt 0 ]
		is "$name.$variant: such sites are counted apart" $? 0
	done
done
is "without threads there are none" "$(total locals "$T/single.O2")" 0

libc=$(ldd "$target" | sed -n 's/.*libc\.so.* => \([^ ]*\).*/\1/p')
run sites --list "$libc"
matches "of libc strtok_r is in" "$work/out" '	[_GI]*strtok_r	'
grep -q '	_*malloc	' "$work/out"
is "malloc is not" $? 1
[ "$(total sites --include 'libc.so*' "$libc")" -gt "$(total sites "$libc")" ]
is "--include brings the rest of libc in" $? 0

# With --debug a run tells each location where a thread was held, once.
run run --debug detect --error-exitcode 0 -o "$work/report" -- "$target" 1
sed -n 's/.*: sampled first at //p' "$work/err" >"$work/sampled"
[ -s "$work/sampled" ]
is "--debug tells what was sampled" $? 0
is "each location once" "$(sort "$work/sampled" | uniq -d)" ""
is "as many as the summary says" "$(wc -l <"$work/sampled")" \
	"$(summary sites_sampled "$work/report")"
"$RACEWATCH" sites --list "$target" | sed 's/^[^+]*+\(0x[0-9a-f]*\).*/\1/' |
	sort >"$work/sites"
sed -n 's, of /.*/struct_field\.O2$,,p' "$work/sampled" | sort >"$work/own"
is "those of the program are sites" \
	"$(comm -23 "$work/own" "$work/sites")" ""

# A process, and what the loader resolved in it.
mkfifo "$work/fifo"
cat "$work/fifo" >/dev/null &
pid=$!
lib_started $pid
exec 9>"$work/fifo"
await 10 grep -q libc.so "/proc/$pid/maps"
run sites --list "$pid"
is "a process: 0" "$status" 0
matches "its libc is among the modules" "$work/out" '^libc\.so'
exec 9>&-

# Bad input.
run sites "$work/none"
is "no such file: 125" "$status" 125
matches "it is named" "$work/err" "$work/none"
run sites "$0"
is "no ELF file: 125" "$status" 125
head -c 3000 "$target" >"$work/cut"
run sites "$work/cut"
[ "$status" -eq 0 ] || [ "$status" -eq 125 ]
is "a truncated file: counted as far as it goes, or 125" $? 0
run sites 4194999
is "no such process: 125" "$status" 125
run sites
is "no argument: 2" "$status" 2
run sites "$target" "$target"
is "two arguments: 2" "$status" 2
"$RACEWATCH" sites --list "$libc" >/dev/full 2>"$work/err"
is "a full disk: 125" $? 125

# The largest library there is, in less than 300 MB. How long it takes is
# measured by bench/sites.
large=$(find /usr/lib -name '*.so*' -type f -printf '%s %p\n' 2>/dev/null |
	sort -n | tail -n 1)
size=${large%% *}
large=${large#* }
diag "$large: $size bytes"
(ulimit -d 300000; "$RACEWATCH" sites "$large") >"$work/out" 2>&1
is "the largest library: counted in 300 MB" $? 0
finish
