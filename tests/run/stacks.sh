#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Stacks in text: paths, and what is folded of a C++ and of a Rust program, whose threads
# are created by their languages' libraries. The reports are written here, with
# the frames that such programs have; no program is watched.

. "$(dirname "$0")/../lib.sh"

sources=$(realpath "$top_srcdir")
libc=/usr/lib/x86_64-linux-gnu/libc.so.6
cxx=/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30

# frame FUNCTION FILE LINE COLUMN MODULE: one in JSON; a file or a number may be
# null
frame()
{
	printf '{"function":"%s","file":"%s","line":%s,"column":%s,' "$1" "$2" \
		"$3" "$4" | sed 's/"null"/null/'
	printf '"module":"%s","offset":"0x%x"},' "$5" $((0x1000 + ${3/null/0}))
}

# side ROLE ACCESS TID FRAMES CREATED
side()
{
	printf '{"role":"%s","access":"%s","size":8,"pid":1,"tid":%s,' \
		"$1" "$2" "$3"
	printf '"insn":"nop","frames":[%s],"created":[%s],"creator":1}' \
		"${4%,}" "${5%,}"
}

# report_of FRAMES CREATED: a report of one race, to $work/stacks.jsonl
report_of()
{
	printf '{"type":"run","schema":1,"version":"0.1.0","command":["./grow"],"pid":1}\n'
	printf '{"type":"race","id":1,"kind":"read-write","evidence":"collision",'
	printf '"address":"0x4000","size":8,"before":"0000000000000000",'
	printf '"after":"0100000000000000","count":1,"verdict":"suspect",'
	printf '"fingerprint":"%032d","fingerprint_code":"%032d",' 1 2
	printf '"variable":{"name":"reg.items","symbol":"reg","file":"%s",' \
		"$work/grow.cc"
	printf '"line":6,"region":"global","module":"%s"},"sides":[' "$work/grow"
	side stalled write 2 "$1" "$2"
	printf ,
	side racing read 3 "$1" "$2"
	printf ']}\n'
} >"$work/stacks.jsonl"

std=/usr/include/c++/12
stack=$(
	frame add "$work/grow.cc" 14 18 "$work/grow"
	frame 'std::__invoke<void (*)(int), int>' $std/bits/invoke.h 96 40 \
		"$work/grow"
	frame 'std::thread::_State_impl<...>::_M_run' $std/bits/std_thread.h \
		210 3 "$work/grow"
	frame execute_native_thread_routine null null null "$cxx"
	frame start_thread ./nptl/pthread_create.c 442 8 "$libc"
	frame clone3 ../sysdeps/unix/sysv/linux/x86_64/clone3.S 81 null "$libc"
)
created=$(
	frame pthread_create ./nptl/pthread_create.c 831 5 "$libc"
	frame 'std::thread::_M_start_thread' null null null "$cxx"
	for function in 'thread<int>' construct allocate _M_realloc_insert; do
		frame "std::$function" $std/bits/new_allocator.h 175 4 \
			"$work/grow"
	done
	frame 'std::vector<std::thread>::emplace_back' $std/bits/vector.tcc \
		117 30 "$work/grow"
	frame main "$work/grow.cc" 22 24 "$work/grow"
	frame __libc_start_call_main ../sysdeps/nptl/libc_start_call_main.h 58 \
		16 "$libc"
	frame __libc_start_main ../csu/libc-start.c 381 3 "$libc"
	frame _start null null null "$work/grow"
)
report_of "$stack" "$created"
cd "$work" || exit 99
run report "$work/stacks.jsonl"
is "a C++ program's report: exit status" "$status" 0 || diag_file "$work/err"
matches "the access" "$work/out" '^    #0 add +grow\.cc:14:18 '
matches "its callers are libraries" "$work/out" \
	'^    \.\.\. 5 frames of libstdc\+\+, libc$'
is "which are not shown" "$(grep -c '_M_run\|clone3' "$work/out")" 0
matches "what created the thread is libraries" "$work/out" \
	'^      \.\.\. 7 frames of libc, libstdc\+\+$'
matches "until the program's own code" "$work/out" \
	'^      #7  main +grow\.cc:22:24$'
matches "which libraries called" "$work/out" '^      \.\.\. 3 frames of libc$'

mkdir "$work/build" "$work/elsewhere"
cd "$work/elsewhere" || exit 99
sed 's|\("file":"[^"]*\)/grow\.cc"|\1/build/../grow.cc"|g' "$work/stacks.jsonl" \
	>"$work/built.jsonl"
run report "$work/built.jsonl"
matches "what is not below the working directory is absolute" "$work/out" \
	"^    #0 add +$work/grow\.cc:14:18 "
cd "$work" || exit 99

run report --full-stacks "$work/stacks.jsonl"
matches "full stacks: the outermost frame" "$work/out" '^    #5 clone3 '
matches "whose file is no path of this machine" "$work/out" \
	'^    #4 start_thread +pthread_create\.c:442$'
matches "and of the creation" "$work/out" '^      #10 _start '
is "nothing is folded" "$(grep -c '\.\.\. ' "$work/out")" 0

is "no fingerprints" "$(grep -c '^  identity' "$work/out")" 0
run report -v "$work/stacks.jsonl"
matches "verbose: the fingerprints" "$work/out" \
	'^  identity    0{31}1 by names, 0{31}2 by code$'
run report --format junit "$work/stacks.jsonl"
matches "which JUnit has" "$work/out" '^  identity    0{31}1 by names'
matches "with all frames" "$work/out" '^    #5 clone3 '
run report --format json "$work/stacks.jsonl"
is "JSON has every frame" "$(records --print \
	'sides.*.frames.*.function' "$work/out" type=race |
	tr ' ' '\n' | grep -c clone3)" 2

# --- a line for each race, and editors that read it

run report --format line "$work/stacks.jsonl"
is "a line for a race: exit status" "$status" 0
is "it is a warning at the first place" "$(cat "$work/out")" \
	"grow.cc:14:18: warning: data race on reg.items: write in add races with read in add at grow.cc:14:18 [racewatch]"
cp "$work/out" "$work/lines"
{
	sed 's/:14:18: w/:15: w/' "$work/out"
	sed 's/:14:18: w/: w/' "$work/out"
	echo "WARNING: racewatch: data race #1 (pid 1)"
	echo "other.c:3:4: warning: not ours"
} >>"$work/lines"

if command -v vim >/dev/null; then
	mkdir -p "$work/vim/compiler"
	cp "$sources/contrib/editors/racewatch.vim" "$work/vim/compiler"
	cat >"$work/quickfix.vim" <<'END'
compiler racewatch
cgetfile lines
call map(getqflist(), 'writefile([bufname(v:val.bufnr) . "|" .
	\ v:val.lnum . "|" . v:val.col . "|" . v:val.type . "|" .
	\ v:val.text], "entries", "a")')
call writefile([&makeprg], 'makeprg')
qall!
END
	timeout 60 vim -es -u NONE -i NONE --cmd "set nocp rtp^=$work/vim" \
		-S "$work/quickfix.vim" </dev/null >"$work/vim.out" 2>&1
	message="data race on reg.items: write in add races with read in add"
	message+=" at grow.cc:14:18"
	is "Vim: each is an entry, and nothing else" "$(cat "$work/entries")" \
		"$(printf 'grow.cc|%s|w|%s\n' "14|18" "$message" \
			"15|0" "$message" "0|0" "$message")" ||
		diag_file "$work/vim.out"
	is "Vim: what :make runs" "$(cat "$work/makeprg")" \
		"racewatch run -q --format line --"
else
	skip "Vim's quickfix list" "there is no vim"
fi
if command -v jq >/dev/null; then
	# without a line there is no place to mark
	is "Visual Studio Code's matcher: file, line, column" \
		"$(jq -rRn --slurpfile tasks "$sources/contrib/editors/tasks.json" '
			$tasks[0].tasks[0].problemMatcher.pattern as $pattern |
			inputs | [match($pattern.regexp).captures[].string] |
			select(length > 0) |
			"\(.[$pattern.file - 1]) \(.[$pattern.line - 1]) " +
			"\(.[$pattern.column - 1]) \(.[$pattern.severity - 1])"
			' "$work/lines" | tr '\n' ',')" \
		"grow.cc 14 18 warning,grow.cc 15 null warning,"
else
	skip "Visual Studio Code's matcher" "there is no jq"
fi

# Rust's library is linked into the program; its sources are where it was built.
rust=/rustc/59807616/library/std/src
report_of "$(
	frame 'grow::add' "$work/grow.rs" 5 18 "$work/grow"
	frame 'grow::main::{{closure}}' "$work/grow.rs" 9 53 "$work/grow"
	frame 'std::thread::spawn' $rust/thread/mod.rs 31 2 "$work/grow"
	frame '__rust_try' null null null "$work/grow"
	frame 'thread_start' library/std/src/sys/thread/unix.rs 118 17 \
		"$work/grow"
	frame start_thread ./nptl/pthread_create.c 442 8 "$libc"
)" "$(
	frame pthread_create ./nptl/pthread_create.c 831 5 "$libc"
	for function in new spawn_unchecked Builder::spawn spawn; do
		frame "std::thread::$function" $rust/thread/mod.rs 40 1 \
			"$work/grow"
	done
	frame 'grow::main' "$work/grow.rs" 9 36 "$work/grow"
)"
run report "$work/stacks.jsonl"
matches "a Rust program's access" "$work/out" '^    #0 grow::add +grow\.rs:5:18 '
matches "its closure" "$work/out" '^    #1 grow::main::\{\{closure\}\} +'
matches "their callers" "$work/out" '^    \.\.\. 4 frames of Rust, std, libc$'
matches "what created the thread" "$work/out" \
	'^      \.\.\. 5 frames of libc, Rust$'
matches "is called by the program" "$work/out" '^      #5  grow::main +'

# --- a terminal: pager and colors

# on_terminal OPTION...: the last report as a terminal gets it, to $work/out
on_terminal()
{
	timeout 60 script -qec "'$RACEWATCH' report $* '$work/stacks.jsonl'" \
		/dev/null </dev/null >"$work/out" 2>"$work/err"
	status=$?
}

unset NO_COLOR CLICOLOR_FORCE LESS
export TERM=xterm PAGER='sed s/^/paged:/'
on_terminal
is "a pager's report: exit status" "$status" 0 || diag_file "$work/err"
matches "it shows the text" "$work/out" '^paged:WARNING: racewatch: '
is "without colors, which it may not show" "$(grep -c $'\033' "$work/out")" 0
on_terminal --no-pager
is "no pager if none is wanted" "$(grep -c paged "$work/out")" 0
matches "the terminal shows colors" "$work/out" $'^\033''\[1;31mWARNING'
PAGER='' on_terminal
matches "nor if it is empty" "$work/out" $'^\033''\[1;31mWARNING'
PAGER=racewatch-no-such-pager on_terminal
matches "what cannot be run is done without" "$work/out" 'WARNING: racewatch: '
PAGER='sed -n s/^WARNING.*/first/p;exec <&-' on_terminal
is "a pager that is left: exit status" "$status" 0
mkdir "$work/bin"
# shellcheck disable=SC2016 # for that shell
printf '#!/bin/sh\nexec sed "s/^/$LESS:/"\n' >"$work/bin/less"
chmod +x "$work/bin/less"
(
	unset PAGER
	PATH=$work/bin:$PATH on_terminal
)
matches "less is the default, told to show colors" "$work/out" \
	$'^FRX:\033''\[1;31mWARNING'
on_terminal --format json
is "JSON has no pager" "$(grep -c paged "$work/out")" 0
run report "$work/stacks.jsonl"
is "nor has a file" "$(grep -c paged "$work/out")" 0
CLICOLOR_FORCE=1 run report "$work/stacks.jsonl"
matches "CLICOLOR_FORCE: colors in a file" "$work/out" \
	$'^\033''\[1;31mWARNING'
CLICOLOR_FORCE=1 NO_COLOR=1 run report "$work/stacks.jsonl"
matches "NO_COLOR counts more" "$work/out" '^WARNING'
CLICOLOR_FORCE=0 run report "$work/stacks.jsonl"
matches "CLICOLOR_FORCE=0 forces nothing" "$work/out" '^WARNING'

# --- where viewers show a race: never at the source of a library

# shown: where SARIF has the last report's race
shown()
{
	"$RACEWATCH" report --format sarif "$work/stacks.jsonl" |
		jq -r '.runs[0].results[0].locations[0].physicalLocation |
			"\(.artifactLocation.uri):\(.region.startLine)"'
}

if command -v jq >/dev/null; then
	report_of "$(
		frame push_back $std/bits/stl_vector.h 1281 2 "$work/grow"
		frame add "$work/grow.cc" 14 18 "$work/grow"
	)" ""
	is "SARIF: the caller of a function of a header" "$(shown)" \
		"file://$work/grow.cc:14"
	report_of "$(
		frame start_thread ./nptl/pthread_create.c 442 8 "$libc"
	)" ""
	is "SARIF: the object file of library code" "$(shown)" \
		"file://$libc:null"
	run report --format junit "$work/stacks.jsonl"
	is "JUnit: no place then" "$(grep -c 'file="' "$work/out")" 0
else
	skip "where viewers show a race" "there is no jq"
fi

# Without code of the program's own, libraries are what there is to see.
report_of "$(
	for function in a b c; do
		frame $function null null null "$cxx"
	done
)" ""
run report "$work/stacks.jsonl"
is "a stack of libraries is not folded" "$(grep -c '^    #[0-2] ' "$work/out")" 6

finish
