#!/usr/bin/env bash
# Checks the folder of a release: that its pages lead to what is in it, that it needs
# no more of a system than Debian 12 has, that each library finds the runtime in the
# program, and that the program, without any environment and from an empty folder,
# takes the kernels beside it.
#
#   bench/dist/check.sh FOLDER
set -euo pipefail
folder=$(realpath "${1:?name the folder of the release}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "check.sh: $*" >&2
	exit 1
}

[ -f "$folder/README.md" ] || fail "$folder has no README.md"
while IFS=: read -r page link; do
	[ -e "$folder/$(dirname "$page")/$link" ] || fail "$page leads to $link, which is not in $folder"
done < <(cd "$folder" && grep -rHoP '\]\(\K[^):#]+(?=[)#])' --include='*.md' .)

# The newest that Debian 12 has of each library's symbols.
newest='GLIBC_2.36 GLIBCXX_3.4.30 CXXABI_1.3.13 GCC_12.0.0'
program=$folder/bin/selfplay
libraries=("$folder"/lib/ollama/libggml-*.so*)
for file in "$program" "${libraries[@]}"; do
	objdump -p "$file" >"$work/file"
	for limit in $newest; do
		found=$(grep -oE "\b${limit%%_*}_[0-9.]+" "$work/file" | sort -V | tail -n 1 || true)
		[ -z "$found" ] || [ "$(printf '%s\n' "$limit" "$found" | sort -V | tail -n 1)" = "$limit" ] ||
			fail "$file needs $found, and Debian 12 has $limit: build it on Debian 12"
	done
	needed=$(sed -n 's/^ *NEEDED *//p' "$work/file" | grep -vE '^(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so\.[0-9]|ld-linux-x86-64\.so\.2)$' || true)
	case $file in
	*/libggml-cuda.so) ;; # needs the box's CUDA
	*) [ -z "$needed" ] || fail "$file needs $(echo $needed), which a plain Debian 12 has not" ;;
	esac
done

nm -D --defined-only "$program" | awk '{print $3}' | sort >"$work/has"
for file in "$folder"/lib/ollama/libggml-cpu-*.so; do
	nm -D --undefined-only "$file" | awk '/ U /{print $2}' | grep -E 'ggml|gguf' | sort >"$work/asks"
	missing=$(comm -23 "$work/asks" "$work/has")
	[ -z "$missing" ] || fail "$file asks the program for $(echo $missing), which it has not"
	shown=$(nm -D --defined-only "$file" | awk '/ [TDB] /{print $3}' | sort | tr '\n' ' ')
	[ "$shown" = 'ggml_backend_init ggml_backend_score ' ] || fail "$file shows $shown"
done

cd "$work"
env -i "$program" doctor >"$work/doctor" || { cat "$work/doctor" >&2; fail "$program doctor fails"; }
grep -E 'the runtime computes with libggml-cpu-[a-z0-9-]+\.so' "$work/doctor" || fail "$program takes none of the kernels in lib/ollama: $(cat "$work/doctor")"
! grep -E '^warning .*the runtime was compiled' "$work/doctor" || fail "$program takes kernels that do not suit this CPU"
