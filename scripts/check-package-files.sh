#!/usr/bin/env bash
# check-package-files.sh TARBALL: the package holds the compiled sources and the documents a reader expects, nothing
# else. Every link of a document to a file leads to one in the package.
set -euo pipefail

files=$(tar -tzf "$1" | sed 's|^package/||')
code=0

compiled=$(echo dist/lib/{index,client,react-admin,refine,sqlite,postgres,mariadb,tools,tooling/cli/main}.{js,d.ts})
for wanted in package.json README.md CHANGELOG.md LICENSE docs/quick-start.md $compiled; do
  grep -qxF "$wanted" <<< "$files" || { echo "missing: $wanted"; code=1; }
done

documents='(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md|docs/[a-z-]+\.(md|png)|docs/patches/[a-z-]+\.patch'
licences='LICENSE|dist/lib/chunks/LICENSE\.(typebox|uuid)'
admin_files='examples/admin/(README\.md|index\.html|(package|tsconfig)\.json|(start|vite\.config)\.js|src/[a-z-]+\.tsx?)'
deployment_files='examples/deployment/(\.dockerignore|Dockerfile|package\.json|site\.(mjs|service)|(compose|kubernetes)\.yaml)'
code_files="$admin_files|$deployment_files|examples/(site|workspace)/[a-z-]+\.ts|dist/(lib|schemas)/.+\.(js|d\.ts)"
wanted="package\.json|$licences|$documents|benchmarks/[a-z]+\.md|$code_files"
others=$(grep -vxE "($wanted)" <<< "$files" || true)
if [[ -n $others ]]; then
  echo "not wanted: $others"
  code=1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xzf "$1" -C "$work"
cd "$work/package"
while read -r page; do
  # Fenced blocks are left out, and links to other hosts and to headings of the same page.
  links=$(awk '/^ *```/ { fenced = !fenced; next } !fenced' "$page" | grep -oE '\]\([^) ]+\)' |
    sed -E 's/^\]\(|\)$//g; s/#.*//' | grep -vE '^$|^[a-z]+:' | sort -u || true)
  for link in $links; do
    [[ -e $(dirname "$page")/$link ]] || { echo "dead link in $page: $link"; code=1; }
  done
done < <(find . -name '*.md')

exit $code
