#!/usr/bin/env bash
# Builds the runtime's CPU kernels for each kind of x86-64 CPU. The program of a
# release takes the best of them that the CPU can run, out of lib/ollama beside
# its own folder.
#
#   bench/dist/cpu.sh SOURCE VERSION FOLDER
#
# SOURCE is the folder of the Go module github.com/ollama/ollama, VERSION the one it
# has, FOLDER where the libraries go, TREES what the names of build trees begin with,
# JOBS how many compilers run at once (one for every core). CC, CXX and CXXFLAGS are
# heeded. Ctrl-C and a second call go on where the first one stopped.
set -euo pipefail
source=${1:?name the folder of the module} version=${2:?give the version of the module} folder=${3:?name the folder for the libraries}
export CC=${CC:-gcc} CXX=${CXX:-g++}
ggml=$source/ml/backend/ggml/ggml
backend=$ggml/src/ggml-cpu
[ -f "$backend/ggml-cpu.cpp" ] || { echo "cpu.sh: $source has no ml/backend/ggml with ggml-cpu: name the folder of github.com/ollama/ollama's source" >&2; exit 1; }

# A kind is compiled for these features and for no more, since they are what the
# runtime asks the CPU for before it takes the library: hence no -march. The more
# of them, the better the kind. The module's own list has no kind with bf16, and
# its VNNI wants VBMI, which no kernel uses and Cascade Lake lacks.
avx2='SSE42 AVX F16C AVX2 BMI2 FMA'
avx512="$avx2 AVX512"
kinds=(
	'sse42        SSE42'
	'avx          SSE42 AVX'
	"avx2         $avx2"                            # Haswell, EPYC up to Milan
	"avx2-vnni    $avx2 AVX_VNNI"                   # Alder Lake, Sierra Forest
	"avx512       $avx512"                          # Skylake
	"avx512-vnni  $avx512 AVX512_VNNI"              # Cascade Lake, Ice Lake
	"avx512-bf16  $avx512 AVX512_VNNI AVX512_BF16"  # Cooper Lake, Sapphire Rapids, EPYC from Genoa on
)
declare -A flags=(
	[SSE42]=-msse4.2 [AVX]=-mavx [F16C]=-mf16c [AVX2]=-mavx2 [BMI2]=-mbmi2 [FMA]=-mfma [AVX_VNNI]=-mavxvnni
	[AVX512]='-mavx512f -mavx512cd -mavx512vl -mavx512dq -mavx512bw' [AVX512_VNNI]=-mavx512vnni [AVX512_BF16]=-mavx512bf16
)

# The program has kernels of its own and shows a library all its symbols. What is
# hidden is not taken from there by mistake; the rest of the runtime is.
export COMMON="-O3 -w -fPIC -fvisibility=hidden -pthread -D_GNU_SOURCE -DNDEBUG -DGGML_USE_LLAMAFILE
	-DGGML_BACKEND_DL -DGGML_BACKEND_SHARED -DGGML_BACKEND_BUILD
	-I$ggml/include -I$ggml/src -I$backend -I$backend/amx -I$backend/llamafile"
tree=${TREES:-${XDG_CACHE_HOME:-$HOME/.cache}/selfplay/ggml-cpu}-$({ "$CC" --version && echo "$source ${CXXFLAGS:-}" && cat "$0"; } | cksum | cut -d ' ' -f 1)
mkdir -p "$folder"

# compile OBJECT SOURCE FLAGS...: the object appears whole or not at all.
compile() {
	[ ! -f "$1" ] || return 0
	case $2 in
	*.c) $CC -std=gnu11 $COMMON "${@:3}" -c -o "$1.part" "$2" ;;
	*) $CXX -std=gnu++17 $COMMON ${CXXFLAGS:-} "${@:3}" -c -o "$1.part" "$2" ;;
	esac && mv "$1.part" "$1"
}
export -f compile

# Each file of each kind is a job. What asks the CPU is run on any: it knows the
# features of the kind, and is compiled for none.
for kind in "${kinds[@]}"; do
	read -r name features <<<"$kind"
	mkdir -p "$tree/$name"
	asked='' machine=''
	for feature in $features; do
		asked+=" -DGGML_$feature"
		machine+=" ${flags[$feature]}"
	done
	for file in "$backend"/*.c{,pp} "$backend"/arch/x86/*.c{,pp} "$backend"/llamafile/*.cpp; do
		object=${file#"$backend/"}
		object=$tree/$name/${object//\//-}.o
		case $file in
		*/cpu-feats.cpp) echo "compile '$object' '$file' $asked" ;;
		*) echo "compile '$object' '$file' $machine" ;;
		esac
	done
done | xargs -P "${JOBS:-$(nproc)}" -d '\n' -I{} bash -c {}

echo '{ global: ggml_backend_init; ggml_backend_score; local: *; };' >"$tree/symbols"
for kind in "${kinds[@]}"; do
	name=${kind%% *}
	library=libggml-cpu-$name.so # its name inside tells the program whether they suit each other
	$CXX -shared -pthread -Wl,--version-script="$tree/symbols" -Wl,-soname,"$library.$version" -o "$tree/$name.so" "$tree/$name"/*.o -lm
	strip --strip-unneeded -o "$folder/$library" "$tree/$name.so"
done
