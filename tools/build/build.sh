# Shared by tools/test and tools/demo: packages, configuration and build. Quiet unless something fails; on a terminal the
# build shows its progress.
#
#   build_dma <folder> "<target>..." [cmake option...]   leaves the targets built in <folder>; to be sourced in the source
#                                                        directory
#   cpu_seconds                                          sets $seconds, user and system, of all commands so far
#   warn_above <who> <limit>                             a line on standard error if they are more

# Runs a command; shows what it printed only when it fails.
quietly() {
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
}

cpu_seconds() {
  times >"$build/times"  # not in a subshell, which has other children
  seconds=$(tr , . <"$build/times" | awk -F '[ms ]+' '{ sum += 60 * ($1 + $3) + $2 + $4 } END { printf "%.0f", sum }')
}
warn_above() {
  [ "$seconds" -le "$2" ] || echo "$1: warning: $seconds CPU seconds are more than the $2 allowed" >&2
}

build_dma() {
  build=$1
  targets=$2
  shift 2
  log=$PWD/$build/output.log
  jobs=$(nproc)
  tools/build/setup ${packages_for:-} || return 1

  # Two builds at once in one folder would spoil each other: the second waits.
  mkdir -p "$build"
  exec 9>"$build/lock"
  flock -n 9 || { echo "waiting for another build in $build" >&2; flock 9; }

  if [ ! -e "$build/CMakeCache.txt" ] && command -v ninja >/dev/null; then set -- -G Ninja "$@"; fi
  quietly cmake -S . -B "$build" "$@" || { echo "configuration failed" >&2; return 1; }
  grep '^-- dma:' "$log" || true
  if [ -t 1 ]; then
    cmake --build "$build" --parallel "$jobs" --target $targets
  else
    quietly cmake --build "$build" --parallel "$jobs" --target $targets
  fi || { echo "build failed" >&2; return 1; }
}
