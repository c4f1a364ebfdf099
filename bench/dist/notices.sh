#!/usr/bin/env bash
# Prints the licences and notices of all that is linked into the program: Go, the
# modules of its packages, and the crates of the tokenizer library.
#
#   bench/dist/notices.sh MODULE > NOTICES
#
# MODULE is the folder of the Go module github.com/daulet/tokenizers.
set -euo pipefail
module=${1:?name the folder of github.com/daulet/tokenizers}
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# A text is printed once, below the names of all that come with it.
declare -A owners texts
order=()
add() { # add OWNER FILE
	local sum
	sum=$(sha256sum <"$2")
	if [ -z "${owners[$sum]:-}" ]; then
		order+=("$sum")
		texts[$sum]=$2
	fi
	case ${owners[$sum]:-} in
	*"$1"$'\n'*) ;;
	*) owners[$sum]+=$1$'\n' ;;
	esac
}

# texts_in FOLDER [DEPTH]: its files that hold licences or notices.
texts_in() {
	find -L "$1" -maxdepth "${2:-1}" -type f -printf '%f\t%p\n' | grep -iE '^[a-z-]*(licen[cs]e|copying|notice|copyright|unlicense)' | grep -viE '^[^	]*\.(go|rs|py)	' | sort | cut -f 2
}

add "Go $(go env GOVERSION)" "$(go env GOROOT)/LICENSE"
go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}|{{.Dir}}|{{$.Dir}}{{end}}{{end}}' ./cmd/selfplay | sort -u | grep . >"$work/packages"
declare -A told
while IFS='|' read -r name root dir; do
	# The folders above a package may have licences of their own.
	while :; do
		while read -r file; do
			add "$name" "$file"
			told[$name]=1
		done < <(texts_in "$dir")
		[ "$dir" != "$root" ] || break
		dir=$(dirname "$dir")
	done
done <"$work/packages"
while IFS='|' read -r name _; do
	[ -n "${told[$name]:-}" ] || { echo "notices.sh: $name has no file with its licence" >&2; exit 1; }
done <"$work/packages"

# The crates are found as the library is built, see the Makefile. Those without
# such a file say their licence in one line; C libraries lie one folder below.
cp -r "$module" "$work/crate" && chmod -R u+w "$work/crate"
sed -i 's|^tiktoken-rs = .*|tiktoken-rs = "=0.7.0"|' "$work/crate/Cargo.toml"
(cd "$work/crate" && cargo vendor --quiet --versioned-dirs "$work/vendor" >/dev/null &&
	cargo tree --quiet --locked -e normal --target x86_64-unknown-linux-gnu --prefix none --format '{p}|{l}') |
	sed 's/ (.*)|/|/; s/ (\*)$//' | sort -u >"$work/crates"
while IFS='|' read -r name licence; do
	[ "${name% *}" != tokenizers ] || [ -d "$work/vendor/${name/ v/-}" ] || continue # the module itself
	found=''
	while read -r file; do
		add "crate $name ($licence)" "$file"
		found=1
	done < <(texts_in "$work/vendor/${name/ v/-}" 2)
	[ -n "$found" ] || plain+="crate $name ($licence)"$'\n'
done <"$work/crates"

echo 'selfplay is linked with the following, under these licences.'
[ -z "${plain:-}" ] || printf '\nWithout a text of their own:\n%s' "$plain"
for sum in "${order[@]}"; do
	printf '\n%s\n%s%s\n' "$(printf '=%.0s' {1..80})" "${owners[$sum]}" "$(printf -- '-%.0s' {1..80})"
	cat "${texts[$sum]}"
done
