# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The tests that compute, run once more with a queue of random pauses between the library
# and each backend (tests/plugins/chaos_plugin.c): what builds on more than the contract
# gives breaks. `make check` takes one seed and the short ones; `make check-chaos` all of
# them with RUBUS_TEST_SEEDS (1 to 20).
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
short="array array_share launch checked blas context"

# Everything that opens backends of a list. Not: tests that count blocks of memory while
# what was destroyed waits for its turn (test_alloc_failure; elsewhere they have the tag
# "counts").
list() {
    (cd "$source_dir" &&
        grep -lE 'support/(backends|vulkan_specs)\.h|(relax|output|krylov)_probe\.h' \
            tests/*/test_*.c) |
        sed 's/\.c$//' | grep -vE '/test_(vulkan_.*|alloc_failure)$'
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
    programs=$(list)
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
