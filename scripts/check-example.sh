#!/usr/bin/env bash
# check-example.sh NODE FOLDER: starts FOLDER/site/main.js with that Node on a free port and the empty database of
# DATABASE_URL (SQLite in memory if there is none), makes some requests and stops it. FOLDER has the package installed.
set -euo pipefail
source "$(dirname "$0")/check.sh"

node=$1
cd "$2"

version () { "$node" -p "JSON.parse(fs.readFileSync('node_modules/$1/package.json')).version"; }
url=${DATABASE_URL:-sqlite::memory:}
declare -A drivers=([sqlite]=better-sqlite3 [postgres]=pg [mariadb]=mysql2)
driver=${drivers[${url%%:*}]}
label="node $("$node" -p process.versions.node), kysely $(version kysely), $driver $(version "$driver")"
port=$("$node" -e "const s = net.createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
api=http://127.0.0.1:$port/api
work=$(mktemp -d)

HOST=127.0.0.1 PORT=$port DATABASE_URL=$url "$node" site/main.js > "$work/app.log" 2>&1 &
app=$!
trap 'kill -KILL "$app" 2> /dev/null || true; rm -rf "$work"' EXIT

# gone within 20 seconds?
ended () {
  for _ in {1..200}; do
    kill -0 "$app" 2> /dev/null || return 0
    sleep 0.1
  done
  return 1
}

http () { curl --silent --noproxy '*' --max-time 10 "$@"; }

answers () {
  for _ in {1..200}; do
    if http --output /dev/null "$api/message/"; then return 0; fi
    kill -0 "$app" 2> /dev/null || break
    sleep 0.1
  done
  cat "$work/app.log"
  return 1
}

# ask STATUS TEXT CURL-ARGUMENTS...: TEXT is a piece of the headers or the body
ask () {
  local expected=$1 text=$2 status
  shift 2
  : > "$work/reply"
  status=$(http --include --output "$work/reply" --write-out '%{http_code}' --header 'content-type: application/json' "$@") || true
  if [[ $status == "$expected" ]] && grep -qiF -- "$text" "$work/reply"; then return 0; fi
  echo "expected $expected and $text, got $status and:"
  cat "$work/reply"
  echo
  return 1
}

stops () {
  local code=0
  kill -TERM "$app"
  ended || kill -KILL "$app"
  wait "$app" || code=$?
  app=
  if [[ $code != 0 ]]; then
    echo "exit code $code"
    tail -n 20 "$work/app.log"
  fi
  return "$code"
}

need "$label: the example starts" answers
check "$label: a list" ask 200 '"objects":[' "$api/message/"
check "$label: a create by alice" ask 201 '"content":"hi"' --user alice:alice --data '{"content":"hi"}' "$api/message/"
id=$(sed -nE 's/.*"id":([0-9]+).*/\1/p' "$work/reply" | head -n 1)
check "$label: bob may not change it" ask 403 '"statusCode":403' --request PUT --user bob:bob --data '{"content":"ho"}' "$api/message/${id:-0}/"
check "$label: a create under the read-only policy" ask 401 'www-authenticate: Basic realm="Login Required"' --data '{"message":"hi"}' "$api/note/"
check "$label: a filter on an excluded field" ask 400 '"statusCode":400' "$api/user/?password=x"
check "$label: the page to try it" ask 200 '<div id="swagger-ui"' "${api%/api}/documentation"
check "$label: its description of the API" ask 200 '"openapi":"3.1.0"' "${api%/api}/documentation/json"
check "$label: SIGTERM ends it with 0" stops
