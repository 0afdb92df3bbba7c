#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The manual pages' examples, as the pages have them. The session of
# racewatch(1) is run command by command, and what it prints is compared with
# the page; every other example is run where the programs and files that it
# names are at hand, and must end well.
#
# That the session's race is met within a minute, or not within the five seconds
# at a thousand samples a second, is chance. So attach has four tries, each two to
# three times as long as the one before, and where a race is to be met another one
# before them, of two seconds for the page's five. A try also fails when it was to
# write rules and wrote none or some of one side only, or to stop at a race and saw
# one side of it only.

. "$(dirname "$0")/../lib.sh"

sources=$(realpath "$top_srcdir")

# examples JOB...: what the pages say
examples()
{
	"$sources/tests/helpers/manual-examples" "$@"
}

for tool in python3 jq gdb cc; do
	command -v "$tool" >/dev/null && continue
	skip "all" "there is no $tool"
	finish
done

# The program under test comes first, and pidof knows no other's processes.
mkdir "$work/bin"
ln -s "$(realpath "$RACEWATCH")" "$work/bin/racewatch"
cat >"$work/bin/pidof" <<'END'
#!/bin/bash
# pidof NAME: processes that run ./NAME; one that was just started may be awaited
for ((look = 0; look < 100; look++)); do
	for exe in /proc/[0-9]*/exe; do
		[ "$exe" -ef "$PWD/$1" ] || continue
		pid=${exe#/proc/}
		pids="${pids:-}${pids:+ }${pid%/exe}"
	done
	[ -n "${pids:-}" ] && break
	sleep 0.05
done
echo "${pids:-}"
[ -n "${pids:-}" ]
END
chmod +x "$work/bin/pidof"
PATH=$work/bin:$PATH
cd "$work" || exit 99

# What runs in the current folder is ended.
end_programs()
{
	local pid

	for pid in $(jobs -p); do
		kill -9 "$pid" 2>/dev/null
	done
	{ wait; } 2>/dev/null
}

# --- the session of racewatch(1)

session=$work/session
mkdir "$session" "$work/tally"
examples session "$sources/man/racewatch.1" "$session" || exit 99

# perform NUMBER: runs that command, where it watches for seconds for $seconds of
# them; what it prints goes to NUMBER.got
perform()
{
	local command gdb=() line

	command=$(sed -e "s|/usr/share/racewatch/gdb|$sources/contrib/gdb|" \
		-e "s/--duration 5s/--duration ${seconds}s/" \
		-e "s/--duration 1m/--duration $((12 * seconds))s/" \
		"$session/$1.command")
	if [ -f "$session/$1.gdb" ]; then
		while read -r line; do
			gdb+=(-ex "echo (gdb) $line\\n" -ex "$line")
		done <"$session/$1.gdb"
		# shellcheck disable=SC2016 # expanded by eval
		command+=' -nx -batch "${gdb[@]}"'
	fi
	eval "$command" >"$session/$1.got" 2>&1 </dev/null
	# the page's machine has no reason for it
	lacks registers &&
		sed -i '/^racewatch: warning: watchpoints by perf: /d' \
			"$session/$1.got"
	# shellcheck disable=SC2046 # words
	lib_started $(jobs -p)
}

# wrote COMMAND: if it is to generate rules, are they there, and of both sides? A
# file of a try that was none is removed: rules are appended.
wrote()
{
	[[ $1 =~ --gen-suppressions\ ([^ ]+) ]] || return 0
	[ -s "${BASH_REMATCH[1]}" ] &&
		! grep -q 'one side was not seen' "${BASH_REMATCH[1]}" &&
		return 0
	rm -f "${BASH_REMATCH[1]}"
	return 1
}

# both_seen COMMAND: if it is to stop at a race, is neither side of that unknown?
both_seen()
{
	[[ $1 =~ --on-race\ stop.*\ -o\ ([^ ]+) ]] || return 0
	! records "${BASH_REMATCH[1]}" type=race sides.*.role=unknown
}

# was_in_vain COMMAND: it did not do what it should
was_in_vain()
{
	diag "not as it should be: $1"
	diag_file "$work/differences"
	kill -CONT "$(pidof tallyd)" 2>/dev/null
}

# lacking COMMAND: does it show the race's second stack, or use what one wrote that
# does, where none can be had? The program that is fixed has no race to show.
lacking()
{
	case $1 in
	*"-o fixed.jsonl "*) return 1 ;;
	"racewatch attach "* | "racewatch report "* | "gdb "* | "head "*)
		skip_lacking registers "racewatch(1): $1"
		;;
	*) return 1 ;;
	esac
}

cp "$sources"/tests/targets/tally*.c "$work/tally"
cd "$work/tally" || exit 99
for file in "$session"/*.command; do
	number=$(basename "$file" .command)
	command=$(tr -s '\\\n ' ' ' <"$file")
	lacking "$command" && continue
	case $command in
	# none is to be met there
	"racewatch attach "*" -o fixed.jsonl "*) tries seconds 5 15 45 100 ;;
	"racewatch attach "*) tries seconds 2 5 15 45 100 ;;
	*) tries seconds 5 ;;
	esac
	same=
	while next_try seconds; do
		perform "$number"
		examples same "$session/$number.expected" \
			"$session/$number.got" >"$work/differences" &&
			wrote "$command" && both_seen "$command" && same=yes &&
			break
		was_in_vain "$command"
	done
	if [ -n "$same" ]; then
		ok "racewatch(1): $command"
	else
		not_ok "racewatch(1): $command"
		diag_file "$work/differences" 60
		diag_file "$session/$number.got" 40
	fi
done
is "the session has commands" "$([ "${number:-000}" -gt 010 ]; echo $?)" 0
end_programs

# What the page begins with: the counts do go wrong.
cc -g -O2 -pthread -D_GNU_SOURCE -o tallyd tallyd.c
./tallyd tally.sock &
tries seconds {1..10}
while next_try seconds; do
	timeout "$seconds" ./tally --load tally.sock
	./tally tally.sock >counts
	grep -qv ': 0 open$' counts && break
done
is "the server's counts go wrong without racewatch too" \
	"$(grep -qv ': 0 open$' counts; echo $?)" 0
end_programs

# --- all other examples

# Programs and files by the names that the pages use: a test that takes a
# second, a server of fifteen with a library, reports of runs.
stage=$work/stage
mkdir "$stage" "$stage/build"
cd "$stage" || exit 99
cp "$TARGETS_DIR/read_write.O2" build/program
strip -o program build/program
printf '#!/bin/sh\nexec %s/build/program 1\n' "$stage" >./test
chmod +x ./test
cat >store.c <<'END'
long stored;
void store(void) { for (int i = 0; i < 100; i++) stored++; }
END
cat >server.c <<'END'
#include <pthread.h>
#include <time.h>
extern void store(void);
static time_t end;
static void *serve(void *arg)
{
	while (time(NULL) < end)
		store();
	return arg;
}
int main(void)
{
	pthread_t thread;

	end = time(NULL) + 15;
	pthread_create(&thread, NULL, serve, NULL);
	serve(NULL);
	return pthread_join(thread, NULL);
}
END
cc -g -O1 -shared -fPIC -o libstore.so.1 store.c &&
	cc -g -O1 -pthread -o server server.c ./libstore.so.1 || exit 99
racewatch run -q --seed 1 -o run1.jsonl -- ./test 2>/dev/null >&2
racewatch run -q --seed 1 -o production.jsonl -- ./program 1 2>/dev/null >&2
for name in run2 all races yesterday today; do
	cp run1.jsonl $name.jsonl
done
cp run1.jsonl races.base

# rule KIND PAGE COMMAND: what tests/run/manual.tab says of it
rule()
{
	local kind page pattern rest

	while read -r kind page rest; do
		pattern=${rest#* }
		# shellcheck disable=SC2053 # a pattern
		[ "$kind" = "$1" ] && [ "$page" = "$2" ] &&
			[[ $3 == $pattern ]] && echo "${rest%% *}"
	done <"$sources/tests/run/manual.tab"
}

# try_example COMMAND: with programs of the names it asks for running
try_example()
{
	local name status

	if [[ $1 =~ pidof\ ([a-z]+) ]]; then
		name=${BASH_REMATCH[1]}
		[ -e "$name" ] || cp server "$name"
		"./$name" &
		lib_started "$!"
	fi
	(eval "$1") >out 2>err </dev/null
	status=$?
	end_programs
	return "$status"
}

# example PAGE COMMAND: what needs a debug register may find none, so twice
example()
{
	local status wanted shorter

	in_turn 4 "$1: $2" || return 0
	wanted=$(rule elsewhere "$1" "$2")
	if [ -n "$wanted" ]; then
		matches "$1: $wanted runs: $2" "$sources/$wanted" "${2%% *}"
		return
	fi
	wanted=$(rule status "$1" "$2")
	shorter=$(rule shorter "$1" "$2")
	tries try 1 2
	while next_try try; do
		try_example "$(sed "${shorter:-;}" <<<"$2")"
		status=$?
		case ",${wanted:-0,66}," in
		*",$status,"*)
			ok "$1: $2"
			return
			;;
		esac
		diag "exit status $status: $2"
		diag_file err
		diag_file out 40
	done
	not_ok "$1: $2"
}

count=0
for page in "$sources"/man/*.[15]; do
	while IFS=$'\t' read -r _ command; do
		example "$(basename "$page")" "$command"
		count=$((count + 1))
	done < <(examples commands "$page")
done
is "the pages have examples" "$((count > 10))" 1

# Rules that a page shows are rules.
mkdir "$work/rules"
examples rules "$sources/man/racewatch-suppressions.5" "$work/rules"
for file in "$work"/rules/*; do
	racewatch report --suppressions "$file" run1.jsonl >out 2>err
	is "racewatch-suppressions.5: rules of $(basename "$file")" "$?" 0 ||
		diag_file err
done

cd / || exit 99
finish
