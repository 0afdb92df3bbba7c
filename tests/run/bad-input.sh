#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Programs that cannot be watched and files that are damaged: each gives the
# right exit status and a message that names the thing, or is watched as well
# as can be; never a crash, never a hang.

. "$(dirname "$0")/../lib.sh"

RUN_TIMEOUT=30
seeds=(1 1001 2001) # where a race is to be met

# refused DESCRIPTION STATUS REGEX ARG...
refused()
{
	local what=$1 wanted=$2 regex=$3

	shift 3
	run run "$@"
	is "$what: exit status" "$status" "$wanted" || diag_file "$work/err"
	matches "$what: message" "$work/err" "$regex"
	if grep -Eiq 'assert|sanitizer: |dumped' "$work/err"; then
		not_ok "$what: no crash"
		diag_file "$work/err"
	fi
}

T=$TARGETS_DIR
refused "CMD missing" 2 'program|CMD' --
refused "CMD not there" 127 'none/such' -- "$work/none/such"
printf 'hello\n' >"$work/text"
refused "CMD not executable" 126 "$work/text" -- "$work/text"
chmod +x "$work/text"
refused "CMD of no format" 126 "$work/text" -- "$work/text"
printf '#!/no/such/interpreter\n' >"$work/script"
chmod +x "$work/script"
refused "a script without its interpreter" 126 "$work/script" -- \
	"$work/script"
refused "a 32-bit program" 126 '32-bit' -- "$T/ia32"
"$HELPERS_DIR/mangle-elf" arm64 "$T/read_write.O2" "$work/arm64"
refused "another architecture" 126 "$work/arm64" -- "$work/arm64"
head -c 40 "$T/read_write.O2" >"$work/stub"
chmod +x "$work/stub"
refused "a file that ends in its ELF header" 126 "$work/stub" -- "$work/stub"
mkfifo "$work/fifo"
refused "-o a FIFO that nobody reads" 125 "$work/fifo: nobody reads this FIFO" \
	-o "$work/fifo" -- touch "$work/ran"
is "-o a FIFO that nobody reads: nothing was run" \
	"$([ -e "$work/ran" ] && echo ran)" ""

# Set-user-ID: watched where that is allowed, else said.
cp "$T/single.O2" "$work/setuid"
if chown 65534 "$work/setuid" 2>/dev/null && chmod 4755 "$work/setuid"; then
	chmod 755 "$work"
	run run -- "$work/setuid" 0.3
	case $status in
	0) ok "a set-user-ID program is run" ;;
	125 | 126) matches "a set-user-ID program is refused" "$work/err" \
		'[Ss]et-?(uid|user)' ;;
	*)
		not_ok "a set-user-ID program: exit status $status"
		diag_file "$work/err"
		;;
	esac
else
	skip "a set-user-ID program" "only root can make one"
fi

# Damaged files that still run: the race is found by what is left, or at the
# least the program runs to its end undisturbed.
survives()
{
	local what=$1

	run run --seed 1 --rate 1000 --halt-on-race --duration 5s \
		-o "$report" -- "$work/mangled" 6
	case $status in
	66) ok "$what: watched, the race is found" ;;
	0) ok "$what: runs to its end" ;;
	*)
		not_ok "$what: exit status $status"
		diag_file "$work/err"
		;;
	esac
}
for how in truncate no-sections wild-sections wild-names wild-symbols \
	wild-frames wild-debug; do
	"$HELPERS_DIR/mangle-elf" "$how" "$T/read_write.nopie" \
		"$work/mangled" || exit 99
	survives "$how"
done

# The same for a shared object among the modules.
for how in truncate no-sections wild-names wild-frames; do
	cp "$T/plugin.O2" "$work/plugin"
	"$HELPERS_DIR/mangle-elf" "$how" "$T/plugin_module.so" \
		"$work/plugin_module.so" || exit 99
	run run --seed 1 --rate 1000 -- "$work/plugin" 0.7
	case $status in
	0 | 66) ok "a plugin damaged by $how" ;;
	*)
		not_ok "a plugin damaged by $how: exit status $status"
		diag_file "$work/err"
		;;
	esac
done

# A large file, which is mapped, truncated while it is read; for a moment, too.
# AddressSanitizer wants to be loaded first, and is not.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
for back in 0 1; do
	cp "$T/read_write.nopie" "$work/large"
	truncate -s 5M "$work/large"
	TRUNCATING=$work/large TRUNCATING_BACK=$back \
		LD_PRELOAD=$HELPERS_DIR/truncating.so run sites --list "$work/large"
	is "truncated while it is read ($back): 125" "$status" 125
	matches "truncated while it is read ($back): message" "$work/err" \
		"$work/large: truncated"
done

# Refused by the kernel.
H=$HELPERS_DIR
denied()
{
	local what=$1

	shift
	timeout -k 5 60 "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}
denied "ptrace" "$H/deny-syscall" ptrace "$RACEWATCH" run -- /bin/true
is "ptrace refused by seccomp: exit status" "$status" 125
matches "ptrace refused by seccomp: message" "$work/err" 'ptrace'
denied "traced" "$H/under-tracer" "$RACEWATCH" run -- /bin/true
is "already traced: exit status" "$status" 125
matches "already traced: message" "$work/err" '[Tt]rac'
tries seed "${seeds[@]}"
while next_try seed; do
	denied "perf" "$H/deny-syscall" perf_event_open "$RACEWATCH" run \
		--seed "$seed" --rate 1000 --halt-on-race --duration 20s \
		-o "$report" -- "$T/read_write.O2" 25
	[ "$status" -eq 0 ] || break
done
is "perf refused: another back-end finds the race" "$status" 66 ||
	diag_file "$work/err"
backend=$(records --print backend "$report" type=run)
case $backend in
ptrace | value) ok "perf refused: the report says which" ;;
*) not_ok "perf refused: the report says which, not $backend" ;;
esac
denied "perf" "$H/deny-syscall" perf_event_open "$RACEWATCH" run \
	--backend perf -- /bin/true
is "perf refused but asked for: exit status" "$status" 125
matches "perf refused but asked for: message" "$work/err" 'perf'
tries seed "${seeds[@]}"
while next_try seed; do
	denied "no watchpoints" "$H/deny-syscall" perf_event_open,POKEUSER \
		"$RACEWATCH" run --seed "$seed" --rate 1000 --halt-on-race \
		--duration 20s -o "$report" -- "$T/read_write.O2" 25
	[ "$status" -eq 0 ] || break
done
is "no hardware watchpoints: found by value" "$status" 66 ||
	diag_file "$work/err"
has "no hardware watchpoints: the report says so" "$report" \
	type=run backend=value
tries seed "${seeds[@]}"
while next_try seed; do
	denied "process_vm_readv" "$H/deny-syscall" process_vm_readv \
		"$RACEWATCH" run --seed "$seed" --rate 1000 --halt-on-race \
		--duration 20s -- "$T/read_write.O2" 25
	[ "$status" -eq 0 ] || break
done
is "process_vm_readv refused: another way" "$status" 66 ||
	diag_file "$work/err"

# What can be told only by a warning does not stop the watching.
run run --source-dir /nonexistent --source-dir /dev/null -- /bin/true
is "--source-dir without a directory: status" "$status" 0
matches "--source-dir that is not there" "$work/err" \
	'^racewatch: warning: --source-dir /nonexistent: No such file'
matches "--source-dir that is no directory" "$work/err" \
	'^racewatch: warning: --source-dir /dev/null: Not a directory'
sleep 600 &
pid=$!
lib_started "$pid"
run attach --duration 0.2 "$pid" "$pid"
is "attach to one process twice: status" "$status" 0
matches "attach to one process twice" "$work/err" \
	"^racewatch: note: process $pid is given more than once"
kill "$pid"

finish
