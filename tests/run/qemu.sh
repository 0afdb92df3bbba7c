#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt --recorder qemu: what its traces have, beside Valgrind's of the
# same program, after a crash, of a child, and what it cannot run.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

if [ ! -x /usr/bin/qemu-x86_64 ]; then
	skip "QEMU" "qemu-x86_64 is not installed (Debian package: qemu-user)"
	finish
fi

# traced NAME RECORDER COMMAND...: the trace is $work/NAME, in text NAME.txt
traced()
{
	RUN_TIMEOUT=300 run hunt -q --recorder "$2" --budget 1ms \
		--keep-trace "$work/$1" -- "${@:3}"
	"$RACEWATCH" report --trace "$work/$1" >"$work/$1.txt" 2>&1
}

# pairs NAME: of instructions, that no creation or join orders
pairs()
{
	sed -n 's/^PAIRS .* \([0-9]*\) that no creation or join.*/\1/p' \
		"$work/$1.txt"
}

for name in listing1.O0 listing1.O2 listing1.nopie listing2.O2 listing1.twin; do
	in_turn 2 "$name" || continue
	traced q qemu "$T/$name"
	matches "$name: by QEMU" "$work/q.txt" "by QEMU, the order .* not known"
	is "$name: both pairs, less what joins order" "$(pairs q)" 2
	rm -rf "$work/q"
done

# which reads happen differs by what threads met: most pairs are the same
head -c 300000 "$(readlink -f /usr/bin/bash)" >"$work/bytes"
if command -v pigz >"$work/which" && command -v valgrind >"$work/which"; then
	cp "$work/bytes" "$work/input"
	traced pigz_q qemu pigz -p 3 -kf "$work/input"
	gzip -dc "$work/input.gz" | cmp -s - "$work/bytes"
	is "pigz has run" $? 0
	traced pigz_v valgrind pigz -p 3 -kf "$work/input"
	q=$(pairs pigz_q) v=$(pairs pigz_v)
	is "pigz: two thirds of Valgrind's pairs ($q of $v), or more" \
		"$((${q:-0} * 3 >= ${v:-1000000} * 2))" 1
fi

traced crash qemu "$T/crash_after.O2" x2000
matches "a crash: the trace is complete" "$work/crash.txt" \
	"accesses in .*; exit status 13[0-9]"
matches "with its pairs" "$work/crash.txt" "^PAIRS .*: [1-9]"

run hunt --recorder qemu --budget 1ms -- sh -c "true; /bin/true; true"
matches "a program that executes another is told" "$work/err" \
	"execve: QEMU does not go on"
printf '#!/bin/sh\necho ran >>"%s"\n' "$work/ran" >"$work/script"
chmod +x "$work/script"
run hunt --recorder qemu -- "$work/script"
is "a script" "$status" 125
matches "is refused by name" "$work/err" "script is no x86-64 program"
is "and was not run for that" "$(grep -cs 'ran$' "$work/ran")" ""

# variables that QEMU takes options from are the program's alone
QEMU_STRACE=1 QEMU_LOG=in_asm run hunt --recorder qemu --budget 1ms -- \
	/usr/bin/env
matches "QEMU's variables get to the program" "$work/out" '^QEMU_STRACE=1$'
is "and not to QEMU" "$(grep -cE 'getuid|exit_group|IN:' "$work/err")" 0

traced clones qemu "$T/odd_clones.O2" 0.5
matches "a bare clone is named" "$work/clones.txt" 'clone: a process that shares'
if grep -qw avx512f /proc/cpuinfo; then
	traced evex qemu "$T/evex.O2"
	matches "AVX-512 is named" "$work/evex.txt" 'AVX-512|SIGILL'
else
	echo "# SKIP AVX-512: this processor has none"
fi
run doctor
matches "doctor tells its version" "$work/out" "recorder .*qemu \\([0-9]+\\.[0-9]"

finish
