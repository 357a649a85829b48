#!/usr/bin/env bash
# check-generators.sh: lints the OpenAPI documents of the examples with Spectral, generates clients of the site with
# hey-api and orval, compiles a program for each and runs it against the site. Expects the examples in dist/.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/check.sh

folder=scripts/generators
generated=$folder/dist
compiler=$PWD/node_modules/.bin/tsc
port=$(node -e "
  const server = net.createServer().listen(0, '127.0.0.1', () => { console.log(server.address().port); server.close() })")
export ORIGIN=http://127.0.0.1:$port DOCUMENT=./dist/site.json
rm -rf "$generated" && mkdir "$generated"

http () { curl --silent --fail --noproxy '*' --max-time 10 "$@"; }

# document EXAMPLE: starts an example, waits for its document and leaves it running
document () {
  HOST=127.0.0.1 PORT=$port DATABASE_URL=sqlite::memory: \
    node "dist/examples/$1/main.js" > "$generated/$1.log" 2>&1 &
  app=$!
  for _ in {1..200}; do
    if http --output "$generated/$1.json" "$ORIGIN/documentation/json"; then return 0; fi
    kill -0 "$app" 2> /dev/null || break
    sleep 0.1
  done
  cat "$generated/$1.log"
  return 1
}

stop () { if [[ -n $app ]]; then kill -TERM "$app" && wait "$app" || true; fi; app=; }
app=
trap stop EXIT

spectral () ( cd "$folder" && node_modules/.bin/spectral lint --quiet "dist/$1.json" )

hey_api () (
  cd "$folder" &&
    node_modules/.bin/openapi-ts --input "$DOCUMENT" --output dist/hey-api --client @hey-api/client-fetch
)

orval () ( cd "$folder" && node_modules/.bin/orval --config orval.config.cjs )

# program NAME: compiles it as strictly as the generators promise, and runs it
program () (
  cd "$folder" &&
    "$compiler" --ignoreConfig --strict --target es2023 --lib es2023,dom,dom.iterable --module nodenext --types node \
      --outDir dist/compiled "$1.ts" &&
    node "dist/compiled/$1.js"
)

need 'the linter and the generators are installed' \
  npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error
need 'the document of the workspace' document workspace
stop
check 'Spectral finds no error in the document of the workspace' spectral workspace
need 'the document of the site' document site
check 'Spectral finds no error in the document of the site' spectral site
check 'hey-api generates a client' hey_api
check 'a program with the client of hey-api compiles and works' program hey-api
check 'orval generates a client' orval
check 'a program with the client of orval compiles and works' program orval
