# check NAME COMMAND...: runs one check and prints `ok - NAME` or `not ok - NAME`. These lines are the result, which .ci/run
# counts; a script that sources this goes on after a failure, so that no check hides another, and ends with 0.

check () {
  local name=$1
  shift
  if "$@"; then echo "ok - $name"; else echo "not ok - $name"; fi
}

# need NAME COMMAND...: a check that the rest of the script cannot do without.
need () {
  local name=$1
  shift
  if "$@"; then
    echo "ok - $name"
  else
    echo "not ok - $name (what depends on it was left out)"
    exit 0
  fi
}

# start NAME COMMAND...: a command that goes on beside what follows. finish NAME: waits for it, prints what it printed, and ends
# as it did: `check 'what it is' finish NAME`.
declare -A pids=() logs=()

start () {
  local name=$1
  shift
  logs[$name]=$(mktemp)
  "$@" > "${logs[$name]}" 2>&1 &
  pids[$name]=$!
}

finish () {
  local code=0
  wait "${pids[$1]}" || code=$?
  cat "${logs[$1]}"
  rm "${logs[$1]}"
  return "$code"
}
