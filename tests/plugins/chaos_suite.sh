# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The tests that compute, run once more with a queue of random pauses between the library
# and each backend (tests/plugins/chaos_plugin.c): what builds on more than the contract
# gives breaks. `make check` takes one seed and the short ones; `make check-chaos` all of
# them with RUBUS_TEST_SEEDS (1 to 20).
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
short="array array_share launch checked blas context"

# Every test that opens backends of the list, itself or through a header of tests. Not: those
# of one plugin's inside, and the one that counts blocks of memory while what was destroyed
# waits for its turn (test_alloc_failure; elsewhere such tests have the tag "counts").
list() {
    local opens='support/(backends|vulkan_specs)\.h|rubus_context_create' header before=
    cd "$source_dir" || return
    while [ "$opens" != "$before" ]; do
        before=$opens
        for header in $(grep -lE "$before" tests/*/*.h); do
            case "|$opens|" in *"|$header|"*) ;; *) opens="$opens|$header" ;; esac
        done
    done
    grep -lE "$opens" tests/*/test_*.c | sed 's/\.c$//' |
        grep -vE '^tests/plugins/|/test_(vulkan_.*|threads_(jit|plugin)|alloc_failure)$'
}

export RUBUS_PLUGIN_PATH=$here/tests/plugins/chaos/.libs
unset RUBUS_TEST_INNER RUBUS_TEST_HIDE
export CK_EXCLUDE_TAGS=counts
export CK_TIMEOUT_MULTIPLIER=${CK_TIMEOUT_MULTIPLIER:-5}

# The folder is what the tests open: else all of this would prove nothing.
check "devices" "$rubus" devices -v
says "threads is wrapped" "plugins/chaos/.libs/rubus-threads.so" "$work/out"
if [ -n "$vulkan_specs" ]; then
    says "vulkan is wrapped" "plugins/chaos/.libs/rubus-vulkan.so" "$work/out"
fi

if [ -n "${RUBUS_TEST_SEEDS:-}" ]; then
    programs=$(list) # in a shell of its own
else
    RUBUS_TEST_SEEDS=1
    programs=$(printf 'tests/runtime/test_%s\n' $short)
fi
for RUBUS_TEST_SEED in $RUBUS_TEST_SEEDS; do
    export RUBUS_TEST_SEED
    for program in $programs; do
        [ -x "$here/$program" ] || continue # a test of what was not built
        check "seed $RUBUS_TEST_SEED, $program" "$here/$program"
    done
done
finish
