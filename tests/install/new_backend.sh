# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The way of docs/backend-author.md from nothing to a certified backend, walked against an
# installed copy: new-backend, a skeleton that builds and loads at once, the blocks of the
# guide put into its files, rubus conformance.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
case ${RUBUS_TEST_CFLAGS:-} in
    *-fsanitize*)
        echo "skipped: what a user builds has no sanitizers in it"
        exit 77
        ;;
esac
cd "$work" || exit 99
unset RUBUS_PLUGIN_PATH RUBUS_BACKEND
export RUBUS_CACHE_DIR=$work/cache

# --- installed --------------------------------------------------------------------------
check "make install" env -u MAKEFLAGS -u MFLAGS make -C "$here" --no-print-directory -s \
    install DESTDIR="$work/root"
rubus=$work/$(find root -path '*/bin/rubus')
pc=$(find root -name rubus.pc)
prefix=$(pkg-config --variable=prefix "$pc")
mkdir tools
printf '#!/bin/sh\nexec %s --define-variable=prefix=%s "$@"\n' "$(command -v pkg-config)" \
    "$work/root$prefix" >tools/pkg-config
chmod +x tools/pkg-config
export PKG_CONFIG_PATH=$work/${pc%/*}
PATH=$work/tools:${rubus%/*}:$PATH
guide=$(find root -name backend-author.md)
check "the guide is installed" test -f "$guide"
check "and the page of the checks" test -f "${guide%/*}/conformance.md"

# --- what is refused --------------------------------------------------------------------
new_backend=$(pkg-config --variable=pkgdatadir rubus)/new-backend
refused() { # NAME STATUS PATTERN ARGUMENT...
    local name=$1 want=$2 pattern=$3
    shift 3
    checks=$((checks + 1))
    "$new_backend" "$@" >out 2>err
    local status=$?
    [ $status -eq "$want" ] || note_failure "$name" "status $status instead of $want"
    says "$name" "^new-backend: .*$pattern" err
    same "$name: stdout" "$(cat out)" ''
}
refused "no name" 2 'usage'
refused "too many" 2 'usage' demo folder more
for name in '' Demo 2d _demo de-mo 'de mo' ../demo démo demo. "$(printf 'd%.0s' {1..33})"; do
    refused "the name '$name'" 2 'no name of a backend' "$name"
done
for name in auto cpu reference threads vulkan; do
    refused "the name $name" 2 'taken' "$name"
done
refused "a prefix of the library" 2 'names that begin with rubus' rubus_demo
mkdir there && ln -s nowhere dangling
refused "a folder" 1 'there exists already' demo there
refused "a link to nothing" 1 'dangling exists already' demo dangling
refused "an empty folder name" 2 'folder is empty' demo ''
touch plain
refused "below a file" 1 'plain/demo cannot be made' demo plain/demo
same "nothing was left" "$(find there ./*demo* 2>/dev/null)" there
check "help" "$new_backend" --help

# --- as it was generated ----------------------------------------------------------------
build() { env -u MAKEFLAGS -u MFLAGS make -s -C "$1" CFLAGS='-O2 -Wall -Wextra -Werror'; }
check "new-backend" "$new_backend" demo
check "elsewhere, another name" "$new_backend" x2_y "$work/a b/c"
lacks "elsewhere, another name" 'skeleton|demo' "$work/a b/c/x2_y_plugin.c"
same "its files" "$(cd "$work/a b/c" && echo *)" "Makefile README.md certify.sh x2_y_backend.h \
x2_y_compile.c x2_y_device.c x2_y_memory.c x2_y_module.c x2_y_plugin.c"
check "build" build rubus-demo
same "what it exports" "$(nm -D --defined-only rubus-demo/rubus-demo.so | sed 's/.* //')" \
    rubus_backend_plugin
check "devices" env RUBUS_PLUGIN_PATH="$work/rubus-demo" "$rubus" devices -v
says "devices" '^demo 0\.1, ABI 1\.0' out
says "devices" 'slot device_count of the backend demo is not written yet' out
fails "a context" 4 env RUBUS_PLUGIN_PATH="$work/rubus-demo" RUBUS_BACKEND=demo "$rubus" \
    solve --nx 8
says "a context" 'not written yet' err
checks=$((checks + 1))
"$rubus" conformance --level load "$work/rubus-demo/rubus-demo.so" >out 2>err
[ $? -eq 1 ] || note_failure "as generated" "it is certified"
says "as generated" '^ok [0-9]+ - L01_exports_exactly_one_symbol$' out
says "as generated" '^ok [0-9]+ - L02_descriptor_valid$' out
says "as generated" 'not written yet' out

# --- filled in --------------------------------------------------------------------------
# Each function of a block takes the place of that of its name in the file of the block.
awk '/^## / { inside = $0 == "## From nothing to certified" }
     inside && /^```c$/ { code = 1; next }
     /^```$/ { code = 0 }
     code' "$guide" >blocks.c
lines=$(grep -vE '^$|^/\* demo_[a-z]*\.c \*/$' blocks.c | wc -l)
checks=$((checks + 1))
if [ "$lines" -ge 150 ] || [ "$lines" -lt 50 ]; then
    note_failure "size" "$lines lines are to be filled in"
fi
cat >fill.awk <<'AWK'
function name_of(line) { sub(/\(.*/, "", line); sub(/.*[ *]/, "", line); return line }
FILENAME == "blocks.c" && /^\/\* demo_[a-z]*\.c \*\/$/ { file = $2; next }
FILENAME == "blocks.c" {
    if (/^[a-z].*\(/) { name = name_of($0); of[name] = file }
    if (name != "") text[name] = text[name] $0 "\n"
    if (/^}$/) name = ""
    next
}
FNR == 1 { base = FILENAME; sub(/.*\//, "", base); skip = 0 }
/^[a-z].*\(/ && !/;$/ {
    name = name_of($0)
    if (of[name] == base) { printf "%s", text[name] >(FILENAME ".new"); delete of[name]; skip = 1 }
}
!skip { print >(FILENAME ".new") }
/^}$/ { skip = 0 }
END { for (name in of) if (of[name] != "") { print "nowhere to put " name; exit 1 } }
AWK
check "every block has its place" awk -f fill.awk blocks.c rubus-demo/demo_device.c \
    rubus-demo/demo_memory.c rubus-demo/demo_module.c
for file in rubus-demo/*.new; do
    mv "$file" "${file%.new}"
done
checks=$((checks + 1))
! grep -n 'demo_not_written(' rubus-demo/demo_{device,memory,module}.c >out ||
    note_failure "filled in" "a slot is still not written"
check "build, filled in" build rubus-demo

# --- certified --------------------------------------------------------------------------
check "make check" env -u MAKEFLAGS -u MFLAGS make -s -C rubus-demo check
lacks "certified" '^not ok' out
says "certified" '^ok [0-9]+ - P03_two_processes_share_cache$' out
says "certified" '^ "certified": true' rubus-demo/certificate.json
same "no file is left" "$(find /tmp -maxdepth 1 -name 'demo-*' -newer blocks.c 2>/dev/null)" ''
check "solves" env RUBUS_PLUGIN_PATH="$work/rubus-demo" RUBUS_BACKEND=demo "$rubus" solve \
    --nx 40 -o demo.bin
check "solves" env RUBUS_BACKEND=threads "$rubus" solve --nx 40 -o threads.bin
check "the same bits as threads" cmp demo.bin threads.bin
check "make install" env -u MAKEFLAGS -u MFLAGS make -s -C rubus-demo install
check "found by its name" env RUBUS_BACKEND=demo "$rubus" solve --nx 8
finish
