#!/usr/bin/env bash
# Decode and prefill speed beside llama.cpp's llama-batched-bench: the same
# model, prompts, tokens generated after them, and threads, in turn. Prints tokens
# per second and the ratio of the medians.
#
#   MODEL=file.gguf PEER=path/to/llama-batched-bench bench/decode_ratio.sh
#
# Numbers of SEQUENCES (1,64), tokens of each one's PROMPT (256) and those to
# GENERATE (32), ROUNDS (3) and THREADS (one for every core) can be set.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${MODEL:?name the GGUF file}" "${PEER:?name llama-batched-bench: build it from the source of llama.cpp}"
rounds=${ROUNDS:-3}
threads=${THREADS:-$(nproc)}
sequences=${SEQUENCES:-1,64}
prompt=${PROMPT:-256}
generate=${GENERATE:-32}
cells=$((${sequences##*,} * (prompt + generate))) # the last number is the largest
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go test -c -o "$tmp/decode" ./inference

ours() { # weights; with the garbage collector set as the program sets it
	(cd inference && GOGC=200 "$tmp/decode" -test.run '^$' -test.bench "Decode/$1/" -test.benchtime 1x -model "$MODEL" -sequences "$sequences" -prompt "$prompt" -generate "$generate" -test.cpu "$threads") |
		awk -v w="$1" '/^BenchmarkDecode/ { split($1, p, "[=-]"); for (i = 2; i < NF; i++) { if ($(i+1) == "decode-tok/s") print w, p[2], "decode", $i; if ($(i+1) == "prefill-tok/s") print w, p[2], "prefill", $i } }'
}
peer() {
	LD_LIBRARY_PATH=$(dirname "$PEER") "$PEER" -m "$MODEL" -c "$cells" -b 512 -ub 512 -npp "$prompt" -ntg "$generate" -npl "$sequences" -t "$threads" -fa on 2>"$tmp/log" |
		awk -F'|' -v p="$prompt" '$2 + 0 == p { gsub(/ /, ""); print "llama.cpp", $4, "prefill", $7; print "llama.cpp", $4, "decode", $9 }' >"$tmp/peer" && [ "$(wc -l <"$tmp/peer")" = "$((2 * $(tr ',' '\n' <<<"$sequences" | wc -l)))" ] || {
		echo "decode_ratio.sh: llama-batched-bench gave no row for some of $sequences sequences:" >&2
		cat "$tmp/log" "$tmp/peer" >&2
		exit 1
	}
	cat "$tmp/peer"
}
for ((i = 0; i < rounds; i++)); do
	peer
	ours file
	ours bf16
done | tee "$tmp/all"

echo
echo "medians of $rounds rounds, tokens/s; the ratio is over llama.cpp"
sort -k1,3 -k4,4n "$tmp/all" | awk -v n="$rounds" '
	{ v[$1" "$2" "$3, ++c[$1" "$2" "$3]] = $4 }
	END { for (k in c) { m[k] = v[k, int((c[k] + 1) / 2)] }
		for (k in m) { split(k, p, " "); printf "%-9s %3d sequences %-7s %8.1f %6.2f\n", p[1], p[2], p[3], m[k], m[k] / m["llama.cpp " p[2] " " p[3]] } }' | sort -k4,4 -k2,2n -k1,1
