# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The program that README shows is examples/01_heat.c to the letter; it was built, it runs,
# and it draws its picture.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
cd "$work" || exit 99
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$source_dir/README.md" >shown.c
grep -v '^/\* SPDX' "$source_dir/examples/01_heat.c" >example.c
check "README shows the example" diff -u shown.c example.c
checks=$((checks + 1))
[ "$(wc -l <shown.c)" -le 50 ] || note_failure "README" "the program is longer than 50 lines"
for backend in reference threads; do
    rm -f heat.png
    check "example on $backend" env RUBUS_BACKEND=$backend "$here/examples/01_heat"
    same "picture on $backend" "$(head -c 8 heat.png | od -An -tx1 | tr -d ' \n')" \
        89504e470d0a1a0a
done
says "README names the first command" 'tools/quickstart' "$source_dir/README.md"
says "README names the second command" 'tools/check' "$source_dir/README.md"
finish
