#!/usr/bin/env bash
# Builds the runtime's CUDA library and lays it where the program looks for it:
# in lib/ollama beside the program's own folder.
#
#   bench/gpu/cuda.sh SOURCE VERSION FOLDER
#
# SOURCE is the folder of the Go module github.com/ollama/ollama, of which
# CMakeLists.txt and ml/backend/ggml are enough, VERSION the one that it has, which
# the program must have too; FOLDER ends in lib/ollama. The toolkit is that of
# CUDA_HOME, of the nvcc on PATH, or /usr/local/cuda. CUDA_ARCH (90-real: H200 and
# H100) is a value of CMake's CUDA_ARCHITECTURES, TREES what the names of build trees
# begin with, JOBS how many compilers run at once (one for every core). Ctrl-C and a
# second call go on where the first one stopped.
set -euo pipefail
source=${1:?name the folder of the module} version=${2:?give the version of the module} folder=${3:?name the folder for the library}
arch=${CUDA_ARCH:-90-real}

fail() {
	echo "cuda.sh: $*" >&2
	exit 1
}
[[ $folder == */lib/ollama ]] || fail "$folder does not end in lib/ollama: the runtime would not look there"
[ -f "$source/ml/backend/ggml/ggml/src/ggml-cuda/CMakeLists.txt" ] || fail "$source has no ml/backend/ggml with ggml-cuda: name the folder of github.com/ollama/ollama's source"
command -v cmake >/dev/null || fail "cmake is needed, 3.21 or newer: install it and try again"
command -v strip >/dev/null || fail "strip is needed: install binutils, gcc and g++ and try again"

if [ -n "${CUDA_HOME:-}" ]; then
	nvcc=$CUDA_HOME/bin/nvcc
else
	nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
fi
[ -x "$nvcc" ] || fail "there is no nvcc ($nvcc): install NVIDIA's CUDA toolkit, or name its folder with CUDA_HOME; make cuda CUDA=pip fetches one out of Python packages"
toolkit=$(dirname "$(dirname "$nvcc")")

# A tree holds objects of one toolkit; make's own needs no mark of which.
tree=${TREES:-${XDG_CACHE_HOME:-$HOME/.cache}/selfplay/ggml-cuda}-${arch//;/+}
if [ "${CUDA:-}" != pip ]; then
	tree+=-$({ echo "$nvcc" && "$nvcc" --version; } | cksum | cut -d ' ' -f 1)
fi
echo "building ggml-cuda for $arch with $nvcc in $tree: some 50 minutes on two cores, 6 on 16" >&2
mkdir -p "$tree" "$folder"
# The library asks for the driver's (libcuda.so.1) even where the one it is linked
# with here is empty: without that it would not load, driver or not. The name inside
# tells the program whether they suit each other.
cmake -S "$source" -B "$tree" -DCMAKE_CUDA_COMPILER="$nvcc" -DCUDAToolkit_ROOT="$toolkit" -DCMAKE_CUDA_ARCHITECTURES="$arch" \
	-DCMAKE_MODULE_LINKER_FLAGS="-Wl,--no-as-needed,-soname,libggml-cuda.so.$version" -DCMAKE_DISABLE_FIND_PACKAGE_Vulkan=ON -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON '-DCMAKE_INSTALL_RPATH=$ORIGIN' >"$tree/configure.log" 2>&1 || {
	tail -n 30 "$tree/configure.log" >&2
	fail "CMake cannot configure the build, see above and $tree/configure.log"
}
grep -q 'CUDA Toolkit found' "$tree/configure.log" || fail "CMake finds no CUDA toolkit in $toolkit: see $tree/configure.log, or try CUDA=pip"
cmake --build "$tree" --target ggml-cuda -j "${JOBS:-$(nproc)}" || fail "the build stopped, see above; the same command goes on from there"

# Each appears whole or not at all. The base library goes by the name that the
# other one asks for.
for library in libggml-base.so.0 libggml-cuda.so; do
	strip --strip-unneeded -o "$folder/.$library" "$tree/lib/ollama/$library"
	chmod 755 "$folder/.$library"
	mv "$folder/.$library" "$folder/$library"
done

# CUDA's own libraries, 600 MB, are linked to and not copied: every checkout has
# them then, and an image or an archive, in which such a link leads nowhere, takes
# those that the system has.
for library in libcudart.so libcublas.so libcublasLt.so; do
	rm -f "$folder/$library".[0-9]*
	for found in "$toolkit"/{lib64,lib,targets/x86_64-linux/lib}/"$library".[0-9]*; do
		name=$(basename "$found")
		if [ -e "$found" ] && [[ $name =~ ^$library\.[0-9]+$ ]]; then
			ln -sfn "$(realpath -s "$found")" "$folder/$name"
		fi
	done
done
ls -l "$folder" >&2
