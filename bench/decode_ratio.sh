#!/usr/bin/env bash
# Decode and prefill speed beside llama.cpp's llama-batched-bench: the same
# model, 256 tokens of prompt and 32 generated in 1 and in 64 sequences, the same
# threads, in turn. Prints tokens per second and the ratio of the medians.
#
#   MODEL=file.gguf PEER=path/to/llama-batched-bench [ROUNDS=3] bench/decode_ratio.sh
set -euo pipefail
cd "$(dirname "$0")/.."
: "${MODEL:?name the GGUF file}" "${PEER:?name llama-batched-bench: build it from the source of llama.cpp}"
rounds=${ROUNDS:-3}
threads=$(nproc)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go test -c -o "$tmp/decode" ./inference

ours() { # weights; with the garbage collector set as the program sets it
	(cd inference && GOGC=200 "$tmp/decode" -test.run '^$' -test.bench "Decode/$1/" -test.benchtime 1x -model "$MODEL" -test.cpu "$threads") |
		awk -v w="$1" '/^BenchmarkDecode/ { split($1, p, "[=-]"); for (i = 2; i < NF; i++) { if ($(i+1) == "decode-tok/s") print w, p[2], "decode", $i; if ($(i+1) == "prefill-tok/s") print w, p[2], "prefill", $i } }'
}
peer() {
	LD_LIBRARY_PATH=$(dirname "$PEER") "$PEER" -m "$MODEL" -c 20480 -b 512 -ub 512 -npp 256 -ntg 32 -npl 1,64 -t "$threads" -fa on 2>/dev/null |
		awk -F'|' '$2 ~ /256/ { gsub(/ /, ""); print "llama.cpp", $4, "prefill", $7; print "llama.cpp", $4, "decode", $9 }'
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
		for (k in m) { split(k, p, " "); printf "%-9s %2d sequences %-7s %8.1f %6.2f\n", p[1], p[2], p[3], m[k], m[k] / m["llama.cpp " p[2] " " p[3]] } }' | sort -k4,4 -k2,2n -k1,1
