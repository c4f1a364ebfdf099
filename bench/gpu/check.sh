#!/usr/bin/env bash
# What this program does on a GPU box, in at most eight minutes and one JSON file:
# facts of the GPU, doctor, logits beside the CPU's, tune, and bench with 64, 256
# and 1,024 games at once of three models of the published shapes.
#
#   bench/gpu/check.sh [--build[=SOURCE]] [--out FILE] [--minutes 8] [--cpu] [--program FILE]
#
# The box needs an NVIDIA driver, CUDA's libraries (libcudart, libcublas) and
# Python 3.8; no Go. Two files are carried to it, which
#
#   make gpu-kit            (with an installed CUDA toolkit; CUDA=pip fetches one)
#
# puts into bin/selfplay-gpu.tar.xz, of less than 60 MiB, together with what else
# is needed: the program, for any x86-64 CPU since 2013, and libggml-cuda.so with
# its libggml-base.so.0. There:
#
#   tar -xJf selfplay-gpu.tar.xz && selfplay-gpu/check.sh --out check.json
#
# The library asks for the CUDA release that it was built with (13 with CUDA=pip).
# On a box with another one, --build compiles it there first, with nvcc, cmake, gcc
# and g++, from the carried source or SOURCE, a folder of github.com/ollama/ollama:
# some six minutes on 16 cores, which the eight do not include. A checkout runs the
# check after make build and make cuda.
#
# FILE is written anew after every step and holds what there is when the check is
# cut off. The exit code is 0 if every step did what it should, 1 if not, 2 for wrong
# usage. --cpu runs all of it with tiny models on the CPU, to check the check.
set -euo pipefail
unset "${!SELFPLAY_@}" # a user's defaults are not what is checked
export SELFPLAY_CONFIG=/dev/null
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -x "$here/bin/selfplay" ]; then
	root=$here source=$here/source # the carried files
else
	root=$(cd "$here/../.." && pwd) source=
fi
command -v python3 >/dev/null || { echo "check.sh: python3 is needed: install it and try again" >&2; exit 1; }
case "${1:-}" in
--build | --build=*)
	if [ "$1" != --build ]; then source=${1#--build=}; fi
	[ -n "$source" ] || { echo "check.sh: in a checkout make cuda builds the library; or name its source: --build=FOLDER" >&2; exit 2; }
	shift
	version=$("$root/bin/selfplay" version --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["versions"]["ollama"])')
	CUDA='' "$here/cuda.sh" "$source" "$version" "$root/lib/ollama"
	;;
esac
exec python3 "$here/check.py" --root "$root" "$@"
