# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The manual of the kernel language: every module in it compiles, what it shows of the
# command's output is what the command prints, and no error code or library op is missing.
# A block ```rk begins with the line `// NAME.rk`; ```rk wrong is one that must not compile;
# ```text explain NAME.rk and ```text errors NAME.rk show output for it.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
cd "$work" || exit 99
manual=$source_dir/docs/kernel-language.md
: >modules
awk '/^```rk( wrong)?$/ {
        kind = $2 == "wrong" ? "wrong" : "good"
        getline
        into = $2
        print kind, into >"modules"
    }
    /^```text (explain|errors) / { into = $2 "-" $3; next }
    /^```/ { into = ""; next }
    into != "" { print >into }' "$manual"

checks=$((checks + 1))
[ "$(wc -l <modules)" -ge 6 ] || note_failure "modules" "fewer than 6 were found"
while read -r kind file; do
    checks=$((checks + 1))
    [ -s "$file" ] || note_failure "$file" "an empty block, or no name in its first line"
    if [ "$kind" = wrong ]; then
        fails "$file" 3 "$rubus" kernel check "$file"
    else
        check "$file" "$rubus" kernel check "$file"
    fi
done <modules

check "explain step.rk" "$rubus" kernel explain step.rk
cp out printed
check "output of explain" diff -u explain-step.rk printed
fails "check wrong.rk" 3 "$rubus" kernel check wrong.rk
cp err printed
check "messages" diff -u errors-wrong.rk printed

codes=$(sed -n 's/^RK_CODE(\([0-9]*\),.*/\1/p' "$source_dir/libcore/kernel/codes.def")
ops=$(sed -n 's/^op \([a-z0-9_]*\)(.*/\1/p' "$source_dir/shaders/fd.rk" | sort -u)
for code in ${codes:?none found}; do
    says "code $code" "\\| $(printf 'K%03d' "$code") \\| [^ |]" "$manual"
done
for name in ${ops:?none found}; do
    says "op $name" "^\\|.*\`$name\`" "$manual"
done
finish
