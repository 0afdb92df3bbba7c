#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A sweep in shares: the scripts of contrib/sweep give what one worker with the
# same seeds gives. GNU parallel with two local workers and over an ssh that is
# a shell here; Slurm on a node of its own, started by this test.
#
# Eight runs meet the race of read_write, as in sweep.sh.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

export RACEWATCH
scripts=$(realpath "$top_srcdir/contrib/sweep")
target=$TARGETS_DIR/read_write.O2

# what FILE...: the races by fingerprint, and the numbers of runs
races_of()
{
	records --print fingerprint "$1" type=race | sort
}
runs_of()
{
	records --print runs "$1" type=run
}

# What every run was: number, seed and plan.
works_of()
{
	local file

	for file; do
		sqlite3 "$file" 'SELECT run, seed, plan FROM run WHERE ended'
	done | sort -n
}

# Without registers the race is seen from one side, or from both where both
# threads are stalled at once, which are two races: that of the reader is left.
alone=()
pass_alone=() # the same, for the scripts
if lacks registers; then
	alone=(--exclude set_level)
	pass_alone=(-x --exclude -x set_level)
fi

# met DIRECTORY COMMAND...: a sweep with that directory, and a longer one where
# its runs see no race; leaves $status and $seconds
met()
{
	tries seconds 0.7 8
	while next_try seconds; do
		rm -rf "$1"
		timeout 180 "${@:2}" -d "$1" -- "$target" "$seconds" >out 2>err
		status=$?
		case $status in
		0 | 65) ;;
		*) break ;;
		esac
	done
}

cd "$work" || exit 99
met one "$RACEWATCH" sweep --plan even --runs 8 "${alone[@]}"
is "one worker finds the race: 66" "$status" 66 || diag_file err
is "it tells what each run was" "$(works_of one/state.db | wc -l)" 8

# same NAME DIRECTORY: as that of the one worker
same()
{
	is "$1: the same runs with the same seeds" \
		"$(works_of "$2"/part-*/state.db)" "$(works_of one/state.db)"
	is "$1: the same races" "$(races_of "$2/report.jsonl")" \
		"$(races_of one/report.jsonl)"
	is "$1: of as many runs" "$(runs_of "$2/report.jsonl")" 8
}

# merged NAME DIRECTORY
merged()
{
	"$RACEWATCH" report --format json "$2"/part-*/run-*/report.jsonl \
		>"$work/again" 2>/dev/null
	cmp -s "$work/again" "$2/report.jsonl"
	is "$1: the merged report is that of all runs" "$?" 0
}

# hunted NAME DIRECTORY: a hunt of it by two workers has left one store, in which
# every side of the recording has one outcome
hunted()
{
	local store=$2/store

	is "$1: exit status" "$status" 66 || diag_file err
	is "$1: there are sides" \
		"$(sqlite3 "$store" 'SELECT count(*) > 1 FROM side')" 1
	is "$1: none is left" "$(sqlite3 "$store" \
		"SELECT count(*) FROM side WHERE result = 'pending'")" 0
	# one that was held in vain is, by ptrace; one that another race has
	# shown may be under way at that time
	is "$1: none that is ordered is tried again" \
		"$(sqlite3 "$store" "SELECT count(*) FROM try AS one JOIN try AS other
			ON one.side = other.side AND one.id < other.id
			WHERE one.result = 'ordered'")" 0
	is "$1: the recording tried none" "$(records --count \
		"$2/recorded.jsonl" type=target outcome!=pending)" 0
	is "$1: both have a report" "$(compgen -G "$2/part-[12].jsonl" | wc -l)" 2
	has "$1: in the report of all, the race" "$2/report.jsonl" type=race \
		evidence=provoked
	is "$1: what came of each side is told" "$(records --count \
		"$2/part-0.jsonl" type=target outcome!=pending)" \
		"$(sqlite3 "$store" 'SELECT count(*) FROM side')"
}
prey=$TARGETS_DIR/listing1.O2

if lacks registers; then
	skip "hunts" "there are no registers"
elif ! command -v parallel >/dev/null; then
	skip "hunts by GNU parallel" "it is not installed"
else
	timeout 180 "$scripts/racewatch-sweep-parallel" -H 2 -d prey \
		-x --hold -x 500ms -- "$prey" >out 2>err
	status=$?
	hunted "parallel, a hunt" prey
	matches "the recording has the options, too" prey/recorded.jsonl \
		'"--hold","500ms"'
	timeout 60 "$scripts/racewatch-sweep-parallel" -H 2 -d none -- \
		/no/such/file >out 2>err
	is "a hunt of no command" "$?" 127
fi

if ! command -v parallel >/dev/null; then
	skip "GNU parallel" "it is not installed"
else
	met two "$scripts/racewatch-sweep-parallel" -n 8 -r 2 -j 2 \
		"${pass_alone[@]}"
	is "parallel, two workers: 66" "$status" 66 || diag_file err
	same parallel two
	merged parallel two
	timeout 60 "$scripts/racewatch-sweep-parallel" -n 8 -r 2 -j 2 -d two \
		-b one/report.jsonl "${pass_alone[@]}" -- \
		"$target" "$seconds" >out 2>err
	is "parallel, begun again, the race is known: 0" "$?" 0 || diag_file err
	same "parallel, again" two
	timeout 60 "$scripts/racewatch-sweep-parallel" -n 3 -r 2 -d words -- \
		/bin/echo "a'b {seed} {} {#} \$x" '"q" {run}' >out 2>err
	is "parallel, nothing is sampled: 65" "$?" 65 || diag_file err
	cmp -s words/part-3/run-000003/stdout \
		<(echo "a'b 3 {} {#} \$x \"q\" 3")
	is "parallel: the command comes through, word by word" "$?" 0 ||
		diag_file words/part-3/run-000003/stdout
	timeout 60 "$scripts/racewatch-sweep-parallel" -n 2 -r 1 -d three \
		-x --no-such-option -- "$target" 1.5 >out 2>err
	is "parallel, an option that is none: 125" "$?" 125
	timeout 60 "$scripts/racewatch-sweep-parallel" -n 2 -r 1 -d four \
		-x --rate -x 0 -- "$TARGETS_DIR/exit_hot.O2" 0.2 >out 2>err
	is "parallel, nothing sampled in a failing program: 65" "$?" 65
	"$scripts/racewatch-sweep-parallel" -n 0 -- true >out 2>err
	is "parallel, usage: 2" "$?" 2
fi

if ! command -v parallel >/dev/null || ! command -v rsync >/dev/null; then
	skip "GNU parallel over ssh" "parallel or rsync is not installed"
elif in_turn 2 "GNU parallel over ssh"; then
	# "ssh [options] HOST COMMAND", with a shell for the machine
	cat >ssh <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do
	case $1 in
	-l | -o | -p) shift ;;
	esac
	shift
done
echo "$1" >>"$SSH_LOG"
shift
[ "$1" != -- ] || shift
exec sh -c "$*"
END
	chmod +x ssh
	PARALLEL_SSH=$work/ssh SSH_LOG=$work/hosts \
		met far "$scripts/racewatch-sweep-parallel" -n 8 -r 4 \
		-S 1/left,1/right "${pass_alone[@]}"
	is "ssh, two machines: 66" "$status" 66 || diag_file err
	same ssh far
	merged ssh far
	is "both had a share" "$(sort -u hosts | tr '\n' ' ')" "left right "
fi

# A cluster of one node, with its own configuration and key.
slurm=$work/slurm
port=$((20000 + $$ % 10000 * 2))
cluster_ready()
{
	sinfo -h -o %T 2>/dev/null | grep -q idle
}
daemons=()
stop_cluster()
{
	kill "${daemons[@]}"
	wait "${daemons[@]}"
}
start_cluster()
{
	local name

	name=$(hostname -s)
	mkdir -p "$slurm/state" "$slurm/spool"
	chmod 755 "$work" "$slurm"
	(umask 077; head -c 1024 /dev/urandom >"$slurm/key")
	cat >"$slurm/slurm.conf" <<-END
	ClusterName=racewatch
	SlurmctldHost=$name(127.0.0.1)
	SlurmUser=root
	SlurmdUser=root
	AuthType=auth/munge
	AuthInfo=socket=$slurm/munge.socket
	SlurmctldPort=$port
	SlurmdPort=$((port + 1))
	StateSaveLocation=$slurm/state
	SlurmdSpoolDir=$slurm/spool
	SlurmctldPidFile=$slurm/slurmctld.pid
	SlurmdPidFile=$slurm/slurmd.pid
	SlurmctldLogFile=$slurm/slurmctld.log
	SlurmdLogFile=$slurm/slurmd.log
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_CPU
	MpiDefault=none
	ReturnToService=2
	NodeName=$name NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
	PartitionName=test Nodes=$name Default=YES MaxTime=10 State=UP
	END
	export SLURM_CONF=$slurm/slurm.conf
	munged -F -f --key-file="$slurm/key" --socket="$slurm/munge.socket" \
		--pid-file="$slurm/munged.pid" --seed-file="$slurm/seed" \
		--log-file="$slurm/munged.log" >"$slurm/out" 2>&1 &
	lib_started $!
	daemons+=($!)
	await 60 test -S "$slurm/munge.socket"
	slurmctld -D >>"$slurm/out" 2>&1 &
	lib_started $!
	daemons+=($!)
	slurmd -D >>"$slurm/out" 2>&1 &
	lib_started $!
	daemons+=($!)
	await 180 cluster_ready
}
if ! command -v slurmctld >/dev/null || ! command -v munged >/dev/null; then
	skip "Slurm" "slurm-wlm or munge is not installed"
elif [ "$(id -u)" -ne 0 ]; then
	skip "Slurm" "a node is started by root"
elif ! in_turn 2 "Slurm"; then
	:
elif ! start_cluster; then
	skip "Slurm" "no cluster of one node can be started here"
	stop_cluster
	diag_file "$slurm/out"
	diag_file "$slurm/slurmctld.log"
	diag_file "$slurm/slurmd.log"
else
	"$scripts/racewatch-sweep-slurm" -t -n 8 -r 4 -d "$work/asked" -- \
		"$target" 1.5 >out 2>err
	is "Slurm would take the job" "$?" 0 || diag_file err
	met "$work/cluster" "$scripts/racewatch-sweep-slurm" -n 8 -r 4 \
		"${pass_alone[@]}"
	is "Slurm, an array of two: 66" "$status" 66 || {
		diag_file err
		diag_file "$slurm/slurmctld.log"
	}
	same Slurm cluster
	merged Slurm cluster
	if ! lacks registers; then
		timeout 180 "$scripts/racewatch-sweep-slurm" -H 2 \
			-d "$work/pack" -x --hold -x 500ms -- "$prey" >out 2>err
		status=$?
		hunted "Slurm, a hunt" "$work/pack"
	fi
	stop_cluster
fi

finish
