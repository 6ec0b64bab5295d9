# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by test scripts: counts checks, and ends with the same summary line as libcheck.
#
#   check NAME COMMAND...   the command must succeed
#   fails NAME N COMMAND... the command must end with status N, say something on stderr
#                           that begins with "rubus: ", and nothing must be left on stdout
#   finish                  prints the summary; exit status 0 if nothing failed
#
# Output of the last command is in $work/out and $work/err.
set -u

checks=0
failures=0
here=${RUBUS_TEST_BUILDDIR:?run by make check}
# shellcheck disable=SC2034 # for the scripts that source this file
source_dir=${RUBUS_TEST_SRCDIR:?run by make check}
work=$(mktemp -d "$here/tests/work.XXXXXX") || exit 99
trap 'chmod -R u+rwX "$work"; rm -rf "$work"' EXIT
# shellcheck disable=SC2034
rubus=$here/tools/rubus/rubus

# The Vulkan backend as a list of specs, where it was built.
vulkan_specs=
if [ -f "$here/.libs/rubus/plugins-1/rubus-vulkan.so" ]; then
    # shellcheck disable=SC2034
    vulkan_specs='vulkan:validate=1 vulkan:validate=1:descriptors=on'
fi

note_failure() {
    failures=$((failures + 1))
    printf 'FAILED: %s: %s\n' "$1" "$2"
    head -c 2000 "$work/out" 2>/dev/null | sed 's/^/    stdout: /'
    head -c 2000 "$work/err" 2>/dev/null | sed 's/^/    stderr: /'
}

check() {
    local name=$1
    shift
    checks=$((checks + 1))
    "$@" >"$work/out" 2>"$work/err"
    local status=$?
    [ $status -eq 0 ] || note_failure "$name" "status $status of: $*"
    return $status
}

fails() {
    local name=$1 want=$2
    shift 2
    checks=$((checks + 1))
    "$@" >"$work/out" 2>"$work/err"
    local status=$?
    if [ $status -ne "$want" ]; then
        note_failure "$name" "status $status instead of $want of: $*"
    elif ! head -n 1 "$work/err" | grep -q '^rubus: '; then
        note_failure "$name" "no message that begins with 'rubus: ' from: $*"
    elif [ -s "$work/out" ]; then
        note_failure "$name" "a failed command wrote to stdout: $*"
    else
        return 0
    fi
    return 1
}

# says NAME PATTERN FILE: the file (of the last command, say $work/err) has a matching line
says() {
    checks=$((checks + 1))
    grep -Eq -- "$2" "$3" || note_failure "$1" "no line matches '$2'"
}

# lacks NAME PATTERN FILE: the opposite
lacks() {
    checks=$((checks + 1))
    ! grep -Eq -- "$2" "$3" || note_failure "$1" "a line matches '$2'"
}

# close_to NAME GOT WANT TOLERANCE: numbers, absolute
close_to() {
    checks=$((checks + 1))
    awk -v a="$2" -v b="$3" -v t="$4" \
        'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && d <= t) }' ||
        note_failure "$1" "$2 instead of $3 (within $4)"
}

# same NAME GOT WANT: texts
same() {
    checks=$((checks + 1))
    [ "$2" = "$3" ] || note_failure "$1" "'$2' instead of '$3'"
}

finish() {
    local percent=100
    if [ $checks -gt 0 ]; then
        percent=$(((checks - failures) * 100 / checks))
    fi
    printf '%d%%: Checks: %d, Failures: %d, Errors: 0\n' $percent $checks $failures
    [ $failures -eq 0 ] && [ $checks -gt 0 ]
    exit
}
