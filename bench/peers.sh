#!/usr/bin/env bash
# This program beside its peers: the same model file, work, machine and threads,
# one after the other, and one table of the ratios. Every number is of this very
# run; what could not be run is named below the table.
#
#   make bench-peers PEER=DIR TEXTARENA=DIR PEERS=DIR
#
# PEER holds llama-server and llama-batched-bench, TEXTARENA TextArena's files and
# golden.py, PEERS http_selfplay.py, which plays TextArena's games against a server.
# THREADS (one for every core) and ROUNDS of llama-batched-bench (3) can be set.
# SMALL=1 shrinks all the work to see that the script runs: its ratios mean nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${MODEL:?name the GGUF file}"
threads=${THREADS:-$(nproc)}
context=2048
if [ -n "${SMALL:-}" ]; then
	at_once=4 max_tokens=8 tictactoe_n=1 kuhn_langs="en de" host_n=1 rounds=1 sequences=1,2 prompt=32 generate=4 prefill=64 core=1000
else
	at_once=32 max_tokens=64 tictactoe_n=6 kuhn_langs="en ar de es fr he ms zh" host_n=24 rounds=${ROUNDS:-3} sequences=1,64,256 prompt=224 generate=32 prefill=512 core=10000
fi

tmp=$(mktemp -d)
server='' client=''
stop() { # a server that is still there, and its client: they have five seconds
	local pid
	for pid in $client $server; do
		kill "$pid" 2>/dev/null || continue
		for _ in {1..50}; do kill -0 "$pid" 2>/dev/null && sleep 0.1; done
		kill -KILL "$pid" 2>/dev/null && say "process $pid had to be killed"
		wait "$pid" 2>/dev/null || true
	done
	server='' client=''
}
trap 'stop; rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
touch "$tmp/table" "$tmp/missing"

say() { echo "== $*" >&2; }
row() { printf '%s\t%s\t%s\t%s\n' "$@" >>"$tmp/table"; } # what, ours, theirs, target
missing() { echo "$1: $2" | tee -a "$tmp/missing" >&2; }
number() { { grep -o "\"$2\": *[-+0-9.eE]*" "$1" || true; } | head -n 1 | sed 's/.*: *//'; } # of a JSON object, by key

ours() { # name, then flags of bench: leaves $tmp/NAME.ours
	local name=$1
	shift
	say "selfplay bench $*"
	bin/selfplay bench --model "$MODEL" --threads "$threads" --context "$context" --max-tokens "$max_tokens" "$@" --run "$tmp/$name" --quiet --json | tail -n 1 >"$tmp/$name.ours"
	weights=$(sed -n 's/.*"weights": *"\([^"]*\)".*/\1/p' "$tmp/$name/run.json" | head -n 1)
}

# theirs plays through llama-server: name, then flags of the client. It leaves
# $tmp/NAME.theirs, or says why not.
theirs() {
	local name=$1 port
	shift
	if [ -n "$unserved" ]; then
		missing "llama-server + TextArena, $name" "$unserved"
		return
	fi
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	say "llama-server, http_selfplay.py $*"
	LD_LIBRARY_PATH=$PEER "$PEER/llama-server" -m "$MODEL" -c $((context * at_once)) -np "$at_once" -t "$threads" --host 127.0.0.1 --port "$port" >"$tmp/server.log" 2>&1 &
	server=$!
	python3 "$tmp/client/peers/http_selfplay.py" --url "http://127.0.0.1:$port" --concurrency "$at_once" --max-tokens "$max_tokens" "$@" >"$tmp/$name.theirs" 2>"$tmp/client.log" &
	client=$!
	wait -n "$server" "$client" || true # the client ends first, if all goes well
	if [ "$(number "$tmp/$name.theirs" errors)" != 0 ]; then
		missing "llama-server + TextArena, $name" "$(tail -n 1 "$tmp/client.log") $(grep -i error "$tmp/server.log" | tail -n 1) $(cat "$tmp/$name.theirs")"
		rm "$tmp/$name.theirs"
	fi
	stop
}

# compare makes rows of what ours and theirs left: name, what, target.
compare() {
	local their_games='' their_tokens=''
	if [ -f "$tmp/$1.theirs" ]; then
		their_games=$(number "$tmp/$1.theirs" games_per_s) their_tokens=$(number "$tmp/$1.theirs" completion_tok_per_s)
		if [ "$(number "$tmp/$1.theirs" games)" != "$(number "$tmp/$1.ours" games)" ]; then
			missing "$2" "not the same number of games"
			return
		fi
	fi
	row "$2, games/s" "$(number "$tmp/$1.ours" games_per_s)" "$their_games" "$3"
	row "$2, tokens/s written" "$(number "$tmp/$1.ours" completion_tok_per_s)" "$their_tokens" ""
}

# The client looks for golden.py in ../textarena.
unserved=
if [ ! -x "${PEER:-}/llama-server" ]; then
	unserved="PEER names no folder with llama-server"
elif [ ! -f "${TEXTARENA:-}/golden.py" ]; then
	unserved="TEXTARENA names no folder with golden.py"
elif [ ! -f "${PEERS:-}/http_selfplay.py" ]; then
	unserved="PEERS names no folder with http_selfplay.py"
elif ! command -v python3 >/dev/null; then
	unserved="python3 is not there"
else
	PEER=$(realpath "$PEER")
	mkdir -p "$tmp/client/peers"
	ln -s "$(realpath "$PEERS")/http_selfplay.py" "$tmp/client/peers/"
	ln -s "$(realpath "$TEXTARENA")" "$tmp/client/textarena"
	export PYTHONDONTWRITEBYTECODE=1
fi

games() {
	# n games each way and twice as many of a language with itself
	local langs
	langs=$(wc -w <<<"$kuhn_langs")
	ours tictactoe --games TicTacToe --langs en,de --n "$tictactoe_n" --slots "$at_once"
	theirs tictactoe --env TicTacToe-v0 --langs en de --games $((6 * tictactoe_n))
	compare tictactoe "TicTacToe, en de" ">= 2.5"
	ours kuhn --games KuhnPoker --langs "${kuhn_langs// /,}" --n 1 --slots "$at_once"
	# shellcheck disable=SC2086 # one argument a language
	theirs kuhn --env KuhnPoker-v0 --langs $kuhn_langs --games $((langs * (langs + 1)))
	compare kuhn "KuhnPoker, $langs languages" ">= 3"
}

host() {
	ours host --games TicTacToe --langs en,de --n "$host_n" --slots 64
	row "host work at 64 slots, % of the time" "$(awk "BEGIN { print 100 * $(number "$tmp/host.ours" host_share) }")" "" "< 3"
	row "host work a token written, µs" "$(awk "BEGIN { print 1e6 * $(number "$tmp/host.ours" host_share) * $(number "$tmp/host.ours" seconds) / $(number "$tmp/host.ours" completion_tokens) }")" "" ""
	say "the core with $core scripted games live"
	go test ./scheduler -run '^$' -bench "Step/$core\$" -cpu 1 | tee "$tmp/core" >&2
	row "core, $core games live, µs a row and step" "$(awk '/^BenchmarkStep/ { for (i = 2; i < NF; i++) if ($(i + 1) == "core-ns/row") print $i / 1000 }' "$tmp/core")" "" "< 10"
}

# engine makes rows of decode_ratio.sh: numbers of sequences, prompt, tokens to
# generate, and which of the two phases to show.
engine() {
	if [ ! -x "${PEER:-}/llama-batched-bench" ]; then
		missing "llama-batched-bench, $4" "PEER names no folder with llama-batched-bench"
		return
	fi
	say "llama-batched-bench, $1 sequences of $2 and $3 tokens"
	if ! PEER=$(realpath "$PEER")/llama-batched-bench THREADS=$threads ROUNDS=$rounds SEQUENCES=$1 PROMPT=$2 GENERATE=$3 bench/decode_ratio.sh | tee "$tmp/engine" >&2; then
		missing "llama-batched-bench, $4" "it or ours failed, see above"
		return
	fi
	awk -v phase="$4" -v n="$2" '
		$3 == "sequences" && $4 == phase { v[$1, $2] = $5; if (!($2 in seen)) { seen[$2]; order[++c] = $2 } }
		END { for (i = 1; i <= c; i++) for (w = 1; w <= 2; w++) {
			s = order[i]; k = w == 1 ? "file" : "bf16"
			printf "%s of %d, prompts of %d, weights %s, tokens/s\t%s\t%s\t>= %s\n", phase, s, n, k, v[k, s], v["llama.cpp", s], (s > 1 ? "1.4" : "1")
		} }' "$tmp/engine" >>"$tmp/table"
}

games
host
# 256 tokens in all: with one more llama.cpp would compute attention over 512.
engine "$sequences" "$prompt" "$generate" decode
engine 1 "$prefill" 1 prefill

echo
echo "$(date -u +%F), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $threads threads, $(basename "$MODEL"), weights $weights in games${SMALL:+, SMALL: the numbers mean nothing}"
bin/selfplay --version
if [ -z "$unserved" ]; then LD_LIBRARY_PATH=$PEER "$PEER/llama-server" --version 2>&1 | sed -n 's/^version/llama.cpp/p'; fi
awk -F'\t' -v small="${SMALL:-}" '
	function verdict(target, value,   t) {
		split(target, t, " ")
		return small != "" || target == "" || value == "" ? "" : (t[1] == "<" ? value + 0 < t[2] + 0 : value + 0 >= t[2] + 0) ? "met" : "missed"
	}
	BEGIN { print "| what | ours | theirs | ratio | target | |"; print "|---|---|---|---|---|---|" }
	{
		ratio = $3 == "" ? "" : sprintf("%.2f", $2 / $3)
		printf "| %s | %.4g | %s | %s | %s | %s |\n", $1, $2, $3 == "" ? "" : sprintf("%.4g", $3), ratio, $4, verdict($4, $4 ~ /^</ ? $2 : ratio) }
' "$tmp/table"
if [ -s "$tmp/missing" ]; then
	echo
	echo "not run:"
	sed 's/^/  /' "$tmp/missing"
fi
