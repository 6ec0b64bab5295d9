# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The command rubus conformance: its options, what it says of backends that do not exist,
# TAP and the certificate. The checks themselves run in certificates.sh.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
cd "$work" || exit 99
conformance=("$rubus" conformance)
threads=$RUBUS_PLUGIN_PATH/rubus-threads.so

# --- usage ------------------------------------------------------------------------------
usage() { # NAME PATTERN ARGUMENT...
    local name=$1 pattern=$2
    shift 2
    fails "$name" 2 "${conformance[@]}" "$@"
    says "$name" "$pattern" err
}
usage "level" "--level: 'all' is none of load, basic, full, stress" threads --level all
usage "two backends" "also 'reference'" threads reference
usage "auto" 'name one backend' auto
usage "a list" 'name one backend' 'threads;reference'
usage "no check of that name" "matches 'Z\\*'" threads --filter 'Z*'
usage "seed" "--seed: 'x' is not a whole number" threads --seed x
usage "patience" '--patience: 0 is not positive' threads --patience 0
usage "certificate to stdout" 'wants a file' threads --json -
usage "unknown option" '--fast' threads --fast
usage "unknown key" 'speed' threads:speed=9 --level load

# --- what does not exist ----------------------------------------------------------------
none() { # NAME PATTERN ARGUMENT...
    local name=$1 pattern=$2
    shift 2
    fails "$name" 4 "${conformance[@]}" "$@"
    says "$name" "$pattern" err
}
none "an unknown name" "'thread'" thread
none "no such file" 'rubus-nothing\.so: No such file' ./rubus-nothing.so
cp "$threads" other.so
none "a file of another name" 'called rubus-NAME\.so' ./other.so
none "no such device" 'no device 7' threads:7

# --- the list ---------------------------------------------------------------------------
check "list" "${conformance[@]}" --list --level stress
cp out list
count=$(wc -l <list)
checks=$((checks + 1))
[ "$count" -ge 75 ] || note_failure "list" "only $count checks"
same "names are unique" "$(awk '{print $1}' list | sort | uniq -d)" ''
checks=$((checks + 1))
grep -vqE '^[A-Z][0-9]{2}_[A-Za-z0-9_]+ +(load|basic|full|stress) +[^ ]' list &&
    note_failure "list" "a line is no name, level and summary"
# docs/conformance.md tells of the same checks, with the same levels, in any order.
same "the page has the checks" \
    "$(sed -n 's/^| `\([A-Z][0-9][0-9]_[A-Za-z0-9_]*\)` | \([a-z]*\) | .*/\1 \2/p' \
        "$source_dir/docs/conformance.md" | LC_ALL=C sort)" \
    "$(awk '{ print $1, $2 }' list | LC_ALL=C sort)"
previous=0
for level in load basic full stress; do
    check "list at $level" "${conformance[@]}" --list --level $level
    n=$(wc -l <out)
    checks=$((checks + 1))
    [ "$n" -gt "$previous" ] || note_failure "levels" "$level has $n checks"
    previous=$n
done
check "list with a filter" "${conformance[@]}" --list --filter 'L0[12]_*'
same "list with a filter" "$(wc -l <out)" 2

# --- results ----------------------------------------------------------------------------
check "a name" "${conformance[@]}" threads --level load --json one.json
same "TAP" "$(head -n 1 out)" 'TAP version 13'
same "the plan" "$(sed -n 's/^1\.\.//p' out)" "$(grep -cE '^(not )?ok ' out)"
lacks "the name" '# SKIP' out
for key in suite suite_version library_version plugin device capabilities slots checks \
    seed level certified; do
    says "certificate: $key" "^ \"$key\": " one.json
done
says "certificate: a slot" '"fill": "native"' one.json
says "certificate: the file" "\"file\": \".*rubus-threads\\.so\"" one.json
says "certificate: certified" '"certified": true' one.json
says "certificate: seconds" '"seconds": [0-9.e-]+' one.json
check "a file" "${conformance[@]}" "$threads" --level load
says "a file" "^# backend threads [0-9.]+, $threads" out
check "a file with options" "${conformance[@]}" "$threads:threads=1" --level load
says "a file with options" '1 thread, dialect c' out
check "built in" "${conformance[@]}" reference --level load --json two.json
says "built in" '^ok [0-9]+ - L01_exports_exactly_one_symbol # SKIP built in' out
says "built in" '"result": "skip"' two.json
check "a filter" "${conformance[@]}" threads --filter 'L02*' --json three.json
same "a filter" "$(grep -c '^ok' out)" 1
says "a filter certifies nothing" '"certified": false' three.json

# --- a plugin that fails ----------------------------------------------------------------
mkdir bad && chmod 755 bad
cat >bad.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <rubus/backend.h>
static rubus_status open_bad(const rubus_host *host, rubus_ops *room, void **out_be)
{
    (void)room, (void)out_be;
    BAD;
    return host->fail(host->ctx, RUBUS_EPLUGIN, "it does not start");
}
RUBUS_PLUGIN_EXPORT const rubus_plugin_desc rubus_backend_plugin = {
    .magic = RUBUS_PLUGIN_MAGIC, .struct_size = sizeof(rubus_plugin_desc),
    .abi_major = RUBUS_ABI_MAJOR, .abi_minor = RUBUS_ABI_MINOR,
    .name = "bad", .version = "1", .vendor = "nobody", .licence = "none", .open = open_bad};
END
bad() { # NAME CODE PATTERN
    # shellcheck disable=SC2086 # a command with flags
    check "$1: compiles" ${RUBUS_TEST_CC:-cc} -shared -fPIC "-DBAD=$2" \
        -I "$source_dir/include" bad.c -o bad/rubus-bad.so || return
    chmod 755 bad/rubus-bad.so
    checks=$((checks + 1))
    "${conformance[@]}" bad/rubus-bad.so --filter 'L09*' --patience 0.1 >out 2>err
    local status=$?
    [ $status -eq 1 ] || note_failure "$1" "status $status instead of 1"
    says "$1" '^not ok 1 - L09_the_library_takes_it' out
    says "$1" "$3" out
}
bad "a plugin that does not start" '(void)0' 'it does not start'
bad "a plugin that prints" 'puts("hello"), fflush(stdout)' 'it printed.*hello'
bad "a plugin that ends the process" 'exit(0)' 'something ended the process, with status 0'
bad "a plugin that crashes" 'abort()' 'signal 6'
bad "a plugin that hangs" 'for (;;) getchar()' 'still running after'

# --- interrupted ------------------------------------------------------------------------
# Its temporary folder goes, and so does the child at hand; the signal is how it ended.
mkdir temporary
for signal in INT TERM HUP; do
    # (in the background of a script SIGINT is ignored, under nohup SIGHUP, and so here)
    env --default-signal=INT,TERM,HUP TMPDIR="$work/temporary" "${conformance[@]}" bad/rubus-bad.so \
        --filter 'L09*' --patience 100 >out 2>err &
    pid=$!
    for ((turn = 0; turn < 200; turn++)); do
        child=$(pgrep -P $pid)
        [ -n "$child" ] && [ -n "$(ls temporary)" ] && break
        sleep 0.05
    done
    kill -$signal $pid
    wait $pid
    same "SIG$signal: status" $? $((128 + $(kill -l $signal)))
    same "SIG$signal: what is left" "$(ls temporary)" ''
    checks=$((checks + 1))
    ! kill -0 "$child" 2>/dev/null || note_failure "SIG$signal" "its child $child lives on"
done
finish
