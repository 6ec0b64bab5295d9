# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The backends of the library keep their own contract: level full, no check fails, and none
# is skipped but for what the certificate itself declares to be missing.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
cd "$work" || exit 99
case ${RUBUS_TEST_CFLAGS:-} in
    *-fsanitize*)
        patience=10 # and what else shares the machine takes its part
        # Checks look at the memory of a process, and ask for more than there is: the
        # sanitizer keeps little of what was freed, and warns of refusals in a file.
        ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1
        ASAN_OPTIONS+=:thread_local_quarantine_size_kb=16:allocator_may_return_null=1
        export ASAN_OPTIONS+=:log_path=$work/sanitizer
        ;;
    *) patience=4 ;;
esac
# Layers examine the plugin's calls, and have tests of their own; here they cost time.
unset VK_INSTANCE_LAYERS VK_LAYER_ENABLES

# Each skip with its reason, and whether the certificate declares that.
undeclared() { # FILE: prints skips that nothing declares
    awk '
        /^ *"(fp64|int64|bool8|atomic_f32_add|atomic_f64_add)": 0/ {
            gsub(/[":,]/, ""); none["capability " $1 ": 0"] = 1 }
        /^ *"[a-z_]+": "stub"/ {
            gsub(/[":,]/, ""); none["slot " $1 ": a stub of the library"] = 1 }
        /^ *"file": "\(built in\)"/ { none["built in: there is no file"] = 1 }
        /^ *"name": / { name = $2 }
        /^ *"result": "skip"/ { skip = 1 }
        /^ *"reason": / {
            reason = $0; sub(/^ *"reason": "/, "", reason); sub(/",?$/, "", reason)
            if (skip && !(reason in none)) print name, reason
            skip = 0
        }' "$1"
}

certify() { # SPEC SKIPS-AT-MOST
    local file=${1//[!a-z0-9]/_}.json
    SECONDS=0
    check "$1" env -u RUBUS_PLUGIN_DENY "$rubus" conformance "$1" --level full \
        --patience $patience --json "$file"
    echo "$1: $SECONDS s, $(grep -c '# SKIP' out) skipped"
    lacks "$1" '^not ok' out
    says "$1: certified" '^ "certified": true' "$file"
    same "$1: skips that are not declared" "$(undeclared "$file")" ''
    checks=$((checks + 1))
    [ "$(grep -c '# SKIP' out)" -le "$2" ] || note_failure "$1" "more than $2 are skipped"
}

# What a sanitizer wrote to its files, but for refused requests.
no_reports() {
    checks=$((checks + 1))
    cat "$work"/sanitizer.* >reports 2>/dev/null
    ! grep -q 'ERROR: ' reports || note_failure "reports of the sanitizer" "$(cat reports)"
}

# The interpreter is built in: no file, so nothing of the table can be called.
certify reference 25
certify threads 0
if [ -n "$vulkan_specs" ]; then
    if "$rubus" conformance vulkan --filter 'L09*' >/dev/null 2>&1; then
        certify vulkan 0
    else
        echo "vulkan: skipped, no device: $("$rubus" devices 2>&1 | grep -i vulkan | head -n 1)"
    fi
fi
no_reports
finish
