#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The completions in real shells: bash, zsh and fish are asked what may come
# next, and answer what the program's own table of options says, with processes,
# files and commands besides. A shell that is not installed is skipped.

# shellcheck disable=SC2016,SC2317 # written for other shells, called by name

. "$(dirname "$0")/../lib.sh"

completions=$(realpath "$top_srcdir/completions")
table=$work/table
"$RACEWATCH" --dump-options >"$table"
mkdir -p "$work/here/adir" "$work/fpath"
cd "$work/here" || exit 99
touch afile.jsonl

# Shells start with nothing of the user's.
export HOME=$work XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work TERM=dumb
unset ENV BASH_ENV ZDOTDIR

# ask_SHELL QUERIES: a line "== QUERY" for each, and what may come next.

# Meta-* puts all candidates into the line, which is then made the arguments of
# a command that prints them.
ask_bash()
{
	local query

	{
		echo 'bind "set bell-style none"'
		[ ! -f /usr/share/bash-completion/bash_completion ] ||
			echo '. /usr/share/bash-completion/bash_completion'
		echo ". $completions/racewatch"
		printf '%s\n' 'answer() { shift "$1"; shift; printf "%s\n" "$@"; }'
		while IFS= read -r query; do
			printf "printf '%%s\\\\n' '== %s'\n" "$query"
			printf '%s\033*\001answer %s \n' "$query" \
				"$(wc -w <<<"${query% *} ")"
		done <"$1"
	} | bash --norc -i 2>"$work/bash.err"
}

# The widget runs in an interactive shell of its own, on a terminal.
ask_zsh()
{
	ln -sf "$completions/_racewatch" "$work/fpath/_racewatch"
	cat >"$work/setup.zsh" <<'END'
PS1= PS2= RPS1=
fpath=($work/fpath $fpath)
autoload -Uz compinit
compinit -u -D
compadd() {
	local -a found
	if (( ! ${@[(I)-[OAD]*]} )); then
		builtin compadd -O found "$@"
		(( $#found )) && print -rl -- $found >>$work/zsh.out
	fi
	builtin compadd "$@"
}
zle -C candidates .list-choices _main_complete
probe() {
	local line
	while IFS= read -r line; do
		print -r -- "== $line" >>$work/zsh.out
		BUFFER=$line CURSOR=$#line
		zle candidates
	done <$queries
	print done >$work/zsh.done
	BUFFER=
}
zle -N probe
bindkey '^X' probe
print ready >$work/zsh.ready
END
	rm -f "$work"/zsh.{out,done,ready}
	work=$work queries=$1 zsh -f >"$work/zsh.err" 2>&1 <<'END'
zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell "source $work/setup.zsh"
wait_for() {
	local i text
	for ((i = 0; i < 6000; i++)); do
		[[ -e $1 ]] && return
		while zpty -r -t shell text; do :; done
		sleep 0.05
	done
}
wait_for $work/zsh.ready
zpty -w -n shell $'\C-x'
wait_for $work/zsh.done
zpty -d shell
END
	cat "$work/zsh.out"
}

ask_fish()
{
	fish --no-config -c '
		source $argv[1]
		while read -l query
			echo "== $query"
			complete -C "$query" | string replace -r "\t.*" ""
		end <$argv[2]' "$completions/racewatch.fish" "$1" \
		2>"$work/fish.err"
}

# --- the questions, and what must be among the answers: "QUERY|KIND|WORDS"

questions=$work/questions
{
	commands=$(cut -f1 "$table" | sort -u | grep -v '^racewatch$' | xargs)
	echo "racewatch |just|$commands"
	while IFS=$'\t' read -r command long short arg _ choices; do
		case $command in
		racewatch) continue ;;
		esac
		where="racewatch $command"
		if [ "$choices" != - ]; then
			echo "$where $long |just|$choices"
			echo "$where $long=|just|$choices"
			[ "$short" = - ] || echo "$where $short |just|$choices"
		elif [ "$arg" = FILE ] || [ "$arg" = PATH ]; then
			echo "$where $long |has|afile.jsonl adir"
			echo "$where $long=|has|afile.jsonl adir"
			[ "$short" = - ] || echo "$where $short |has|afile.jsonl adir"
		elif [ "${arg%ECTORY}" = DIR ]; then
			echo "$where $long |has|adir"
			echo "$where $long |lacks|afile.jsonl"
		elif [ "$arg" != - ]; then
			echo "$where $long |lacks|afile.jsonl adir"
		fi
	done <"$table"
	for command in $commands; do
		echo "racewatch $command --|just|$(awk -F'\t' -v c="$command" \
			'$1 == c { print $2 }' "$table" | xargs)"
	done
	for command in attach doctor sites; do
		echo "racewatch $command |has|$$"
	done
	echo "racewatch attach -q $$ |has|$$"
	echo "racewatch sites |has|afile.jsonl"
	echo "racewatch report --diff |has|afile.jsonl"
	echo "racewatch run -- ca|has|cat"
	# what has an argument takes a word away from the command
	while IFS=$'\t' read -r command long short arg _; do
		case $command/$arg in
		run/- | sweep/-) ;;
		run/* | sweep/*)
			echo "racewatch $command $long 1 ca|has|cat"
			[ "$short" = - ] ||
				echo "racewatch $command $short 1 ca|has|cat"
			;;
		esac
	done <"$table"
	echo "racewatch run cat |has|afile.jsonl"
} >"$questions"
cut -d'|' -f1 "$questions" | awk '!seen[$0]++' >"$work/queries"

# judge ANSWERS: "ok" or "not ok", the query, and what is wrong with the answers,
# between tabs, for each question. A slash behind a folder is none of its name,
# and readline leaves --option= where it is.
judge()
{
	awk -F'|' '
	NR == FNR && /^== / { query = substr($0, 4); next }
	NR == FNR {
		sub(/[\/ \t]+$/, "")
		sub(/^--[a-z-]*=/, "")
		if ($0 != "")
			said[query, $0] = 1
		if ($0 != "" && !counted[query, $0]++)
			number[query]++
		next
	}
	{
		count = split($3, words, " ")
		wrong = ""
		for (i = 1; i <= count; i++)
			if ((($1, words[i]) in said) == ($2 == "lacks"))
				wrong = wrong " " words[i]
		if ($2 == "just" && number[$1] != count)
			wrong = wrong " (" number[$1] " answers)"
		print (wrong == "" ? "ok" : "not ok") "\t" $1 "\t" $2 wrong
	}' "$1" "$questions"
}

for shell in bash zsh fish; do
	if ! command -v $shell >/dev/null; then
		skip "$shell" "there is no $shell"
		continue
	fi
	export work completions
	setsid -w timeout -k 5 600 bash -c "$(declare -f ask_$shell)
		ask_$shell $work/queries" >"$work/answers" <&-
	while IFS=$'\t' read -r verdict query wrong; do
		if [ "$verdict" = ok ]; then
			ok "$shell: $query"
		else
			not_ok "$shell: $query: $wrong"
		fi
	done < <(judge "$work/answers")
	is "$shell answered" "$(grep -c '^== ' "$work/answers")" \
		"$(wc -l <"$work/queries")"
	[ "$shell" = bash ] || diag_file "$work/$shell.err" 5
done
cd / || exit 99
finish
