#!/usr/bin/env bash
# check-package.sh TARBALL: installs the package as its users do, in empty folders, and runs the compiled example there
# on the running Node and on the other supported ones. Expects the example in dist/.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/check.sh

root=$PWD
tarball=$(realpath "$1")
work=$(mktemp -d)
trap 'wait; rm -rf "$work"' EXIT

own=$(node -p 'parseInt(process.versions.node)')
quiet='--no-audit --no-fund --loglevel=error'

# consumer FOLDER KYSELY SQLITE
consumer () (
  mkdir "$1" && cd "$1" &&
    npm init --yes > /dev/null &&
    npm pkg set type=module &&
    npm install $quiet --ignore-scripts "$tarball" fastify@5 "kysely@$2" "better-sqlite3@$3" pg@8 mysql2@3 \
      @fastify/swagger@9 @fastify/swagger-ui@5 @types/node@20 @types/pg@8 &&
    use_driver "$3" &&
    cp -r "$root/dist/examples/site" site
)

# use_driver MAJOR: better-sqlite3 12 is compiled on install, which takes a minute: what npm ci has compiled is taken,
# if it is the same.
use_driver () (
  built=$root/scripts/sqlite-drivers/node20/node_modules/better-sqlite3
  if (( $1 >= 13 )); then return; fi
  if cmp -s "$built/package.json" node_modules/better-sqlite3/package.json; then
    cp -r "$built/build" node_modules/better-sqlite3/
  else
    npm pkg set --json 'allowScripts={"better-sqlite3":true}' && npm rebuild $quiet better-sqlite3
  fi
)

# types FOLDER MODULE RESOLUTION: by both compilers that people use, TypeScript 7 and 6
types () (
  cd "$1" || exit 1
  for compiler in tsc tsc6; do
    "$root/node_modules/.bin/$compiler" --noEmit --strict --target es2023 --lib es2023 --types node \
      --module "$2" --moduleResolution "$3" consumer.ts || exit 1
  done
)

# page FOLDER MODULE RESOLUTION: without the types of Node, and with every declaration looked at
page () (
  cd "$1" &&
    "$root/node_modules/.bin/tsc" --noEmit --strict --target es2023 --lib es2023,dom,dom.iterable \
      --module "$2" --moduleResolution "$3" consumer-browser.ts
)

# required NODE FOLDER
required () (
  cp scripts/consumer.cjs "$2" && cd "$2" && "$1" consumer.cjs
)

# commanded NODE FOLDER: the command makes a model of a table
commanded () (
  cd "$2" &&
    "$1" -e "new (require('better-sqlite3'))('shop.db')
      .exec('create table if not exists item (id integer primary key, name text not null)')" &&
    "$1" node_modules/fastify-rest-models/dist/lib/tooling/cli/main.js introspect sqlite:shop.db |
    grep "defineModel('Item'"
)

# Beside what comes first: these wait for the network and for one core.
for version in 22 24 26; do
  if (( version == own )); then continue; fi
  start "node$version" npm install $quiet --prefix "$work/node$version" "node@$version"
done
start newest consumer "$work/newest" 0.29 13
if (( own < 22 )); then start newer consumer "$work/newer" 0.28 13; fi

first=$work/own
driver=$(( own < 22 ? 12 : 13 ))
need "the package installs, with kysely 0.28 and better-sqlite3 $driver" consumer "$first" 0.28 "$driver"
declare -A modules=([nodenext]=nodenext [bundler]=esnext)
# Once for both resolutions, whose checks run side by side.
cp scripts/consumer.ts scripts/consumer-browser.ts "$first"
for resolution in "${!modules[@]}"; do
  start "types $resolution" types "$first" "${modules[$resolution]}" "$resolution"
  start "page $resolution" page "$first" "${modules[$resolution]}" "$resolution"
done
check 'require() of it' required node "$first"
check 'its command, by npx' env -C "$first" npx --no-install fastify-rest-models --version
check 'its command' commanded node "$first"
scripts/check-example.sh node "$first"
versions=$own

second=$first
if (( own < 22 )); then
  second=$work/newer
  need 'the package installs, with kysely 0.28 and better-sqlite3 13' finish newer
fi

newest=node
for version in 22 24 26; do
  if (( version == own )); then continue; fi
  check "node $version is there" finish "node$version"
  binary=$work/node$version/node_modules/node/bin/node
  if [[ ! -x $binary ]]; then continue; fi
  check "require() of it, node $version" required "$binary" "$second"
  check "its command, node $version" commanded "$binary" "$second"
  scripts/check-example.sh "$binary" "$second"
  versions+=" $version"
  newest=$binary
done

third=$work/newest
need 'the package installs, with kysely 0.29 and better-sqlite3 13' finish newest
scripts/check-example.sh "$newest" "$third"
for engine in postgres mariadb; do
  check "$engine is there, for kysely 0.28" \
    node --import tsx scripts/on-engine.ts "$engine" scripts/check-example.sh node "$first"
  check "$engine is there, for kysely 0.29" \
    node --import tsx scripts/on-engine.ts "$engine" scripts/check-example.sh "$newest" "$third"
done
for resolution in "${!modules[@]}"; do
  check "its types, module resolution $resolution" finish "types $resolution"
  check "types of its client in a browser, module resolution $resolution" finish "page $resolution"
done
echo "Node versions run: $versions"
