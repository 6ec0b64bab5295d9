# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# No C compiler when a user's kernel must be built: the message names it and the variable.
# The library's own kernels need none.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
cd "$work" || exit 99
export RUBUS_CACHE_DIR=$work/cache
export RUBUS_BACKEND=threads

echo 'kernel twice(out real B[n], in real A[n]) { B = 2 * A; }' >k.rk
echo '{"arrays": {"A": {"shape": [4], "data": [1, 2, 3, 4]}, "B": {"shape": [4]}},
 "launch": [["twice", "B", "A"]]}' >k.json

for cc in no-such-cc /bin/false 'gcc -m32 -nonsense' "cc; touch pwned" "\$(touch pwned)"; do
    fails "RUBUS_CC='$cc'" 4 env RUBUS_CC="$cc" "$rubus" run k.rk --case k.json
    says "RUBUS_CC='$cc' names the variable" 'RUBUS_CC' err
    checks=$((checks + 1))
    grep -qF -- "${cc%% *}" err || note_failure "RUBUS_CC='$cc'" "the compiler is not named"
done
fails "the compiler's own words" 4 env RUBUS_CC='gcc -nonsense' "$rubus" run k.rk \
    --case k.json
says "the compiler's own words" 'nonsense' err
if gcc -### -x c /dev/null 2>&1 | grep -q '^ as \|"as"'; then
    fails "no assembler in PATH" 4 env PATH=/nowhere RUBUS_CACHE_DIR=off \
        LD_LIBRARY_PATH="$here/.libs" "$here/tools/rubus/.libs/rubus" run k.rk --case k.json
    says "no assembler in PATH" 'binutils|apt install gcc' err
    if grep -q 'cannot execute' err; then
        lacks "no assembler in PATH" 'RUBUS_CC chooses' err
    fi
fi
same "nothing was run by a shell" "$(find . -name 'pwned*' | wc -l)" 0
check "the interpreter needs none" env RUBUS_CC=no-such-cc "$rubus" run k.rk --case k.json \
    -b reference
same "the interpreter needs none" "$(cat out)" 'B: 2 4 6 8'
check "nor do the library's kernels" env RUBUS_CC=no-such-cc RUBUS_CACHE_DIR=off \
    "$rubus" solve --nx 16 --dim 1
check "nor does devices" env RUBUS_CC=no-such-cc "$rubus" devices
check "afterwards all is well" "$rubus" run k.rk --case k.json
same "afterwards all is well" "$(cat out)" 'B: 2 4 6 8'
finish
