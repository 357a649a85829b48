#!/usr/bin/env bash
# check-package-files.sh TARBALL: the package holds the compiled sources and the documents a reader expects, nothing else.
set -euo pipefail

files=$(tar -tzf "$1" | sed 's|^package/||')
code=0

for wanted in package.json README.md CHANGELOG.md LICENSE dist/lib/{index,client,sqlite,postgres,mariadb,tools,tooling/cli/main}.{js,d.ts}; do
  grep -qxF "$wanted" <<< "$files" || { echo "missing: $wanted"; code=1; }
done

others=$(grep -vxE '(package\.json|README\.md|CHANGELOG\.md|LICENSE|dist/(lib|schemas)/.+\.(js|d\.ts)|dist/lib/chunks/LICENSE\.(typebox|uuid))' <<< "$files" || true)
if [[ -n $others ]]; then
  echo "not wanted: $others"
  code=1
fi

exit $code
