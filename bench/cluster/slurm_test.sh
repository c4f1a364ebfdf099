#!/usr/bin/env bash
# Plays experiments as job arrays on a real Slurm of this machine's own, one node
# with as many CPUs and GPUs as the guide asks for, with shards stopped in every way, and
# compares what is joined with the same experiment played by one process. Where the
# guide has a command for it, that one is run.
#
#   make test-slurm    (Debian: apt-get install slurm-wlm munge; as root)
set -euo pipefail
PROGRAM=$(readlink -f "${1:?the program}")
GUIDE=$(dirname "$(readlink -f "$0")")/README.md

missing=()
for tool in munged:munge mungekey:munge slurmctld:slurm-wlm slurmd:slurm-wlm sbatch:slurm-wlm scontrol:slurm-wlm squeue:slurm-wlm; do
	command -v "${tool%:*}" >/dev/null || missing+=("${tool#*:}")
done
if [ ${#missing[@]} -gt 0 ]; then
	echo "make: test-slurm needs $(printf '%s\n' "${missing[@]}" | sort -u | xargs): apt-get install them, or what your system calls them" >&2
	exit 1
fi
[ "$(id -u)" = 0 ] || { echo "make: test-slurm starts Slurm's daemons, which must be root: run it in a container" >&2; exit 1; }

WORK=$(mktemp -d)
end() {
	code=$?
	[ "$code" = 0 ] || tail -n 8 "$WORK"/run*/logs/*.log "$WORK"/log/*.log >&2 || true
	scancel --user=root 2>/dev/null && sleep 3
	kill $(jobs -p) 2>/dev/null || true # the daemons, and what one process plays
	wait
	rm -rf "$WORK"
}
trap end EXIT
chmod 755 "$WORK"
mkdir -p "$WORK"/{munge,log,state,spool}
chmod 700 "$WORK/munge"

# A free port for each daemon, and a key that nobody else has.
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
mungekey --create --keyfile="$WORK/munge/key"
chmod 755 "$WORK/munge" # clients connect to the socket in it
cat >"$WORK/slurm.conf" <<CONF
ClusterName=selfplay
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$(port)
SlurmdPort=$(port)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$WORK/munge/socket,cred_expire=10
CredType=cred/munge
StateSaveLocation=$WORK/state
SlurmdSpoolDir=$WORK/spool
SlurmctldPidFile=$WORK/slurmctld.pid
SlurmdPidFile=$WORK/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=2
KillWait=20
SchedulerParameters=batch_sched_delay=1,sched_interval=2
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=16 Gres=gpu:4 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=gpu Nodes=ALL MaxTime=INFINITE State=UP
CONF
touch "$WORK"/gpu{0,1,2,3} # which nobody touches
echo "Name=gpu File=$WORK/gpu[0-3]" >"$WORK/gres.conf"
export SLURM_CONF="$WORK/slurm.conf"

start() { "$@" >>"$WORK/log/$(basename "$1").log" 2>&1 & }
start munged --foreground --force --key-file="$WORK/munge/key" --socket="$WORK/munge/socket" --pid-file="$WORK/munge/pid" --log-file="$WORK/log/munged.log" --seed-file="$WORK/munge/seed"
start slurmctld -D
start slurmd -D

# until_it WHAT COMMAND...: waits until the command succeeds, ten minutes at most.
until_it() {
	local what=$1; shift
	for _ in $(seq 3000); do "$@" && return; sleep 0.2; done
	echo "test-slurm: no $what in ten minutes" >&2
	squeue --array >&2 || true
	return 1
}
idle() { sinfo --noheader --format=%T 2>/dev/null | grep -q idle; }
until_it "idle node" idle

# What Slurm says of jobs and of tasks, such as 17_3.
state() { scontrol --oneliner show job "$1" 2>/dev/null | grep -o 'JobState=[A-Z_]*' | head -1 | cut -d= -f2; }
done_with() { [ -z "$(squeue --noheader --array --jobs="$1" 2>/dev/null)" ]; }
again() { scontrol --oneliner show job "$1" | grep -q ' Restarts=1 '; }
playing() { # a shard that has kept a game
	[ "$(state "$1")" != COMPLETED ] || { echo "test-slurm: $1 ended before it could be stopped" >&2; exit 1; }
	[ "$(games "$2")" -gt 0 ]
}
games() { # that a shard has kept, by its number
	"$PROGRAM" export "$RUN/shard-000$1-of-0004" 2>/dev/null | wc -l
}
# What depends on the clock and on what was played beside it is no part of a game.
exported() { "$PROGRAM" export "$1" | sed -E 's/"(start_ms|end_ms|prefill_tokens)":[0-9]+/"\1":0/g'; }
whole() { # the experiment in one piece; a signal does not wait for its end
	"$PROGRAM" bench "${@:2}" --run "$1" --quiet 2>>"$WORK/log/whole.log" &
	wait $!
}
submit() { # the scripts as `selfplay slurm`, which is given, says
	local commands
	commands=$("$@" 2>>"$WORK/log/slurm.log" | grep -A1 '^job=')
	eval "${commands/sbatch --dependency/merge=\$(sbatch --parsable --dependency}"')'
}
slurm() { submit "$PROGRAM" slurm "$RUN" --shards 4 --cpus-per-task 1 -- "$@"; }
guide() { # guide FORM JOB K: the guide's command of that form, for a job and a shard of it
	local command
	command=$(grep -o '`[^`]*`' "$GUIDE" | tr -d '`' | grep -xE "$1" | head -n 1) || { echo "test-slurm: the guide has no command such as $1" >&2; return 1; }
	command=${command//runs\/many/$RUN}
	command=${command//JOB_K/$2_$3}
	command=${command//=K/=$3}
	echo "test-slurm: $command" >&2
	eval "$command" | sed 's/^Submitted batch job //'
}
same() {
	local want
	want=$(exported "$1" | sha256sum)
	[ "$(exported "$RUN/merged" | sha256sum)" = "$want" ] || { echo "test-slurm: $RUN/merged holds other games than one process plays" >&2; exit 1; }
	echo "test-slurm: $2: $(exported "$RUN/merged" | wc -l) games as in one process"
}

# 1. Four shards that nothing stops.
short=(--model builtin:random --games TicTacToe,Nim --langs en,de,zh --n 50)
whole "$WORK/whole1" "${short[@]}"
RUN="$WORK/run 1's" # names that want quoting
slurm "${short[@]}"
until_it "end of the jobs" done_with "$job,$merge"
same "$WORK/whole1" "undisturbed"

# 2. A model, and shards that are stopped in the middle: the first is requeued by
# hand, the second killed and requeued, the third cancelled and submitted again, and
# the fourth told that its time is up, so that it queues again by itself.
long=(--model synthetic:qwen3-tiny --games Nim --langs en,de --n 30 --max-tokens 16 --context 3000 --slots 2 --threads 1)
whole "$WORK/whole2" "${long[@]}"
RUN=$WORK/run2
slurm "${long[@]}"
for shard in 1 2 3 4; do until_it "game of shard $shard" playing "${job}_$shard" "$shard"; done
pid() { # of a shard's selfplay
	for dir in /proc/[0-9]*; do
		[ "$(readlink "$dir/exe" 2>/dev/null)" = "$PROGRAM" ] && tr '\0' '\n' <"$dir/environ" | grep -qx "SLURM_ARRAY_TASK_ID=$1" && basename "$dir" && return
	done
}
scontrol requeue "${job}_1"
kill -KILL "$(pid 2)"
scancel "${job}_3"
scancel --signal=USR1 --batch "${job}_4"
before=$(for shard in 1 2 3 4; do games "$shard"; done | xargs)
until_it "second begin of shard 1" again "${job}_1"
until_it "second begin of shard 4" again "${job}_4"
until_it "end of the jobs but those begun again" done_with "$merge"
[ ! -e "$RUN/merged" ] || { echo "test-slurm: joined without two shards" >&2; exit 1; }
[ "$(state "${job}_2") $(state "${job}_3")" = "FAILED CANCELLED" ] || { echo "test-slurm: a killed and a cancelled shard are $(state "${job}_2") and $(state "${job}_3")" >&2; exit 1; }
guide 'scontrol requeue JOB_K' "$job" 2
third=$(guide 'sbatch --array=K runs/many/shards\.sbatch' "$job" 3)
until_it "end of the shards" done_with "$job,$third"
merge=$(guide 'sbatch runs/many/merge\.sbatch' "$job" 0)
until_it "end of the merge" done_with "$merge"
same "$WORK/whole2" "stopped with $before games"
for shard in 1 2 3 4; do
	sessions=$(grep -c '"started"' "$RUN/shard-000$shard-of-0004/run.json")
	[ "$sessions" = 2 ] || { echo "test-slurm: shard $shard was begun $sessions times, not twice" >&2; exit 1; }
done
for shard in 1 3 4; do
	grep -q "stopped (interrupted)" "$RUN/logs/shard-$shard.log" || { echo "test-slurm: shard $shard was not told to stop" >&2; exit 1; }
done

# 3. What the guide has, with a player in the place of its model and few games; and no
# command in it that is not run here.
line=$(grep -E '^selfplay slurm ' "$GUIDE") && [ "$(wc -l <<<"$line")" = 1 ]
in_guide=$(grep -o '`[^`]*`' "$GUIDE" | tr -d '`' | grep -E '^(sbatch|scontrol|scancel|squeue) ' | sort | uniq | grep -cvxE 'scontrol requeue|scontrol requeue JOB_K|sbatch --array=K runs/many/shards\.sbatch|sbatch runs/many/merge\.sbatch' || true)
[ "$in_guide" = 0 ] || { echo "test-slurm: the guide has $in_guide commands that nothing runs" >&2; exit 1; }
few=(--model builtin:random --suite paper --n 1)
whole "$WORK/whole3" "${few[@]}"
mkdir "$WORK/bin" "$WORK/home" && ln -s "$PROGRAM" "$WORK/bin/selfplay"
cd "$WORK/home"
RUN=$WORK/home/runs/many
as_in_guide() { PATH="$WORK/bin:$PATH" bash -euc "${line/models\/Qwen3-8B/builtin:random} --n 1"; }
submit as_in_guide
until_it "end of the jobs" done_with "$job,$merge"
same "$WORK/whole3" "as in the guide"
