#!/usr/bin/env bash
# Copies the README and all pages that it leads to into the folder of a release, to
# the same places, with the pictures and manifests that they lead to. Source code is
# not in a release: what leads there stays a name.
#
#   bench/dist/pages.sh FOLDER
set -euo pipefail
folder=$(realpath "${1:?name the folder of the release}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

pages=(README.md)
for ((i = 0; i < ${#pages[@]}; i++)); do
	page=${pages[i]}
	install -D -m 644 "$page" "$folder/$page"
	while read -r link; do
		file=$(realpath -m --relative-to=. "$(dirname "$page")/$link")
		case $file in
		*.md) [[ " ${pages[*]} " == *" $file "* ]] || pages+=("$file") ;;
		*.png | *.yaml) install -D -m 644 "$file" "$folder/$file" ;;
		*) sed -i "s|\[\([^]]*\)\]($link)|\1|g" "$folder/$page" ;;
		esac
	done < <(grep -oP '\]\(\K[^):#]+(?=[)#])' "$page" | sort -u)
done
