# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Who tests the conformance suite: backends that each break one rule (mutant_plugin.c).
# For each, the check that mutants.tsv names must fail, and must pass where no rule is
# broken. `make check` takes a few of them, `make check-mutants` all.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
plugin=$here/tests/plugins/.libs/rubus-mutant.so
table=$source_dir/tests/plugins/mutants.tsv
some=" locality_lies caps_change write_past fill_tail error_mute map_early "
unset RUBUS_TEST_INNER RUBUS_TEST_HIDE RUBUS_TEST_SEED

mutants() { # all names but those that break nothing
    sed -n 's/^    X(\([a-z0-9_]*\), "no rule").*//; s/^    X(\([a-z0-9_]*\),.*/\1/p' \
        "$source_dir/tests/plugins/mutant.h"
}

run() { # MUTANT CHECK
    RUBUS_TEST_MUTANT=$1 "$rubus" conformance "$plugin" --level stress --filter "$2" \
        >"$work/out" 2>"$work/err"
}

# Passes without a skip where no rule is broken. Once for each pair.
unbroken() { # BASE CHECK
    case " ${seen:-} " in *" $1/$2 "*) return ;; esac
    seen="${seen:-} $1/$2"
    checks=$((checks + 1))
    if ! run "$1" "$2" || ! grep -q "^ok 1 - $2\$" "$work/out"; then
        note_failure "$1" "$2 does not pass, though no rule is broken"
    fi
}

while IFS=$'\t' read -r mutant name base; do
    case $mutant in '#'*) continue ;; esac
    if [ -z "${RUBUS_TEST_MUTANTS:-}" ] && [ "${some#* "$mutant" }" = "$some" ]; then
        continue
    fi
    unbroken "${base:-none}" "$name"
    checks=$((checks + 1))
    run "$mutant" "$name"
    status=$?
    if [ $status -ne 1 ] || ! grep -q "^not ok 1 - $name\$" "$work/out"; then
        note_failure "$mutant" "survives $name (status $status)"
    fi
done <"$table"

# No mutant is left out of the table.
for mutant in $(mutants); do
    says "$mutant has a check" "^(# )?$mutant	" "$table"
done
finish
