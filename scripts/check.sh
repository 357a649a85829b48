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
