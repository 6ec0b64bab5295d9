# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The kernel cache: stale, damaged and contended entries, folders that cannot be used.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
cd "$work" || exit 99
export RUBUS_CACHE_DIR=$work/cache
export RUBUS_BACKEND=threads

cat >k.rk <<'END'
kernel set(out real B[n]) { B = 1.0; }
kernel twice(out real B[n], in real A[n]) { B = 2 * A; }
END
echo '{"arrays": {"B": {"shape": [2]}}, "launch": [["set", "B"]]}' >set.json
echo '{"arrays": {"A": {"shape": [4], "data": [1, 2, 3, 4]}, "B": {"shape": [4]}},
 "launch": [["twice", "B", "A"]]}' >twice.json
run_twice() { # NAME: runs, and looks at the answer
    check "$1" "$rubus" run k.rk --case twice.json
    same "$1" "$(cat out)" 'B: 2 4 6 8'
}

# --- an edit that keeps size and time stamp ---------------------------------------------
check "first text" "$rubus" run k.rk --case set.json -o b1
cp -p k.rk keep.rk
sed 's/= 1.0/= 2.0/' keep.rk >k.rk
touch -r keep.rk k.rk
check "edited text" "$rubus" run k.rk --case set.json -o b2
cp -p keep.rk k.rk
check "first text again" "$rubus" run k.rk --case set.json -o b3
same "stale cache" "$(cat b1 b2 b3)" $'B: 1 1\nB: 2 2\nB: 1 1'
check "another real" "$rubus" run k.rk --case twice.json --real f32
same "another real" "$(cat out)" 'B: 2 4 6 8'

# --- damaged entries --------------------------------------------------------------------
run_twice "before damage"
find cache -type f >files
checks=$((checks + 1))
[ -s files ] || note_failure "cache" "nothing was stored in it"
while IFS= read -r f; do
    cp -p "$f" keep
    for how in empty cut text unreadable gone; do
        case $how in
            empty) : >"$f" ;;
            cut) head -c 100 keep >"$f" ;;
            text) echo hello >"$f" ;;
            unreadable) chmod 000 "$f" ;;
            gone) rm -f "$f" ;;
        esac
        run_twice "$how entry"
        rm -f "$f"
        cp -p keep "$f"
    done
    # The whole length, with bytes turned in the middle.
    { head -c 600 keep; head -c 64 /dev/zero; tail -c +665 keep; } >"$f"
    run_twice "turned bytes"
    cp -p keep "$f"
done <files

# --- many processes, an empty cache -----------------------------------------------------
rounds=2
[ -z "${RUBUS_TEST_LONG:-}" ] || rounds=50
for round in $(seq $rounds); do
    rm -rf cache
    pids=()
    for p in $(seq 16); do
        "$rubus" run k.rk --case twice.json >"out.$p" 2>"err.$p" &
        pids+=($!)
    done
    for p in "${pids[@]}"; do
        wait "$p"
    done
    for p in $(seq 16); do
        same "process $p of round $round" "$(cat "out.$p")" 'B: 2 4 6 8'
    done
    same "no temporary files, round $round" "$(find cache -name '*tmp*' | wc -l)" 0
done

# --- folders that cannot be used --------------------------------------------------------
mkdir -p readonly && chmod 555 readonly
mkdir -p empty
variants=(
    "env -i PATH=$PATH RUBUS_PLUGIN_PATH=$RUBUS_PLUGIN_PATH RUBUS_BACKEND=threads"
    "env TMPDIR=/no/such"
    "env RUBUS_CACHE_DIR=/proc"
    "env RUBUS_CACHE_DIR=$work/readonly"
    "env RUBUS_CACHE_DIR=off"
    "env RUBUS_CACHE_DIR=some/folder"
    "env -u RUBUS_CACHE_DIR HOME=$work/none XDG_CACHE_HOME="
)
for variant in "${variants[@]}"; do
    # shellcheck disable=SC2086 # words
    check "$variant" $variant "$rubus" run k.rk --case twice.json
    same "$variant" "$(cat out)" 'B: 2 4 6 8'
    checks=$((checks + 1))
    [ "$(wc -l <err)" -le 1 ] || note_failure "$variant" "more than one warning"
done
chmod 755 readonly

# --- blanks, quotes and commands in names -----------------------------------------------
d="$work/a b'c\$(touch pwned);d"
mkdir -p "$d/cache" "$d/-dash"
cp k.rk twice.json "$d"
cp k.rk "$d/-dash/k.rk"
cd "$d" || exit 99
check "strange names" env RUBUS_CACHE_DIR="$d/cache" "$rubus" run "$d/k.rk" \
    --case "$d/twice.json" -o "$d/out.txt"
same "strange names" "$(cat "$d/out.txt")" 'B: 2 4 6 8'
check "leading dash" env RUBUS_CACHE_DIR="$d/cache" "$rubus" run --case twice.json -- \
    -dash/k.rk
same "leading dash" "$(cat "$work/out")" 'B: 2 4 6 8'
same "nothing was run by a shell" "$(find "$work" -name 'pwned*' | wc -l)" 0
cd "$work" || exit 99
long=$(printf 'x%.0s' $(seq 250))
mkdir -p "$long"
check "250 characters" env RUBUS_CACHE_DIR="$work/$long" "$rubus" run k.rk --case twice.json
same "250 characters" "$(cat out)" 'B: 2 4 6 8'
finish
