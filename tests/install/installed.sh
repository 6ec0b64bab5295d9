# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Run by `make installcheck`: an installed copy works by itself, also after a move and
# through a link; a program is built against it with pkg-config; nothing in it tells where
# it was built.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make installcheck}/tests/support/shell_checks.sh"
prefix=$RUBUS_TEST_PREFIX
for folder in "$RUBUS_TEST_BINDIR" "$RUBUS_TEST_LIBDIR" "$RUBUS_TEST_INCLUDEDIR"; do
    case $folder/ in
        "$prefix"/*) ;;
        *)
            echo "skipped: $folder lies outside $prefix, so a copy cannot be moved"
            exit 0
            ;;
    esac
done
bin=${RUBUS_TEST_BINDIR#"$prefix"/}
lib=${RUBUS_TEST_LIBDIR#"$prefix"/}
include=${RUBUS_TEST_INCLUDEDIR#"$prefix"/}
unset RUBUS_PLUGIN_PATH RUBUS_BACKEND RUBUS_CC RUBUS_LOG
export RUBUS_CACHE_DIR=$work/cache
cd "$work" || exit 99

# Only what Rubus installed: the prefix may hold more.
moved="$work/x y"
mkdir -p "$moved/$bin" "$moved/$lib/pkgconfig" "$moved/$include"
cp -a "$prefix/$bin/rubus" "$moved/$bin/"
cp -a "$prefix/$lib"/librubus.* "$prefix/$lib/rubus" "$moved/$lib/"
cp -a "$prefix/$lib/pkgconfig/rubus.pc" "$moved/$lib/pkgconfig/"
cp -a "$prefix/$include/rubus" "$moved/$include/"

# --- the program ------------------------------------------------------------------------
check "devices" "$prefix/$bin/rubus" devices -v
says "devices" "^ +$prefix/($bin/\\.\\./)?$lib/rubus/plugins-1/rubus-threads\\.so" out
check "moved" "$moved/$bin/rubus" devices -v
says "moved" "^ +$moved/($bin/\\.\\./)?$lib/rubus/plugins-1/rubus-threads\\.so" out
ln -s "$moved/$bin/rubus" link
check "by a link" ./link devices
says "by a link" '^threads ' out
check "solves" "$moved/$bin/rubus" solve --nx 16 -o u.vti
check "pictures" "$moved/$bin/rubus" solve --nx 16 --plot u.png

# --- a program of a user ----------------------------------------------------------------
cat >user.c <<'END'
#include <rubus/rubus.h>
int main(void)
{
    rubus_context *context;
    rubus_module *module;
    rubus_array *u;
    double values[4] = {1, 2, 3, 4};
    RUBUS_MUST(rubus_context_create(NULL, &context));
    RUBUS_MUST(rubus_module_create(context, "user.rk",
                                   "kernel k(inout real u[n]) { u = 2 * u + 1; }", NULL,
                                   &module));
    RUBUS_MUST(rubus_array_from(context, RUBUS_F64, RUBUS_SHAPE(4), values, &u));
    RUBUS_MUST(rubus_launch(rubus_module_kernel(module, "k"), u));
    RUBUS_MUST(rubus_array_read(u, values, sizeof values));
    rubus_array_destroy(u);
    rubus_module_destroy(module);
    rubus_context_destroy(context);
    return values[3] == 9 ? 0 : 1;
}
END
mv "$moved" "$work/plain" # pkg-config splits its answer at blanks
export PKG_CONFIG_PATH=$work/plain/$lib/pkgconfig
variable=(--define-variable=prefix="$work/plain")
# shellcheck disable=SC2046,SC2086 # lists of flags
check "compile" ${RUBUS_TEST_CC:-cc} ${RUBUS_TEST_CFLAGS:-} user.c -o user \
    $(pkg-config "${variable[@]}" --cflags --libs rubus)
check "run" env LD_LIBRARY_PATH="$work/plain/$lib" ./user
# The command of README as it stands there, but for the prefix.
grep -v '^/\* SPDX' "$source_dir/examples/01_heat.c" >heat.c
mkdir tools
real=$(command -v pkg-config)
printf '#!/bin/sh\nexec %s --define-variable=prefix=%s "$@"\n' "$real" "$work/plain" >tools/pkg-config
chmod +x tools/pkg-config
sed -n '/^    gcc heat\.c/,/-o heat$/p' "$source_dir/README.md" >command.sh
check "README's command" env PATH="$work/tools:$PATH" sh -e command.sh
check "README's program runs" env -u LD_LIBRARY_PATH RUBUS_BACKEND=reference ./heat
for standard in c11 c17; do
    # shellcheck disable=SC2046 # a list of flags
    check "headers in $standard" ${RUBUS_TEST_CC:-cc} -std=$standard -Wall -Wextra -Wpedantic \
        -Werror -fsyntax-only $(pkg-config "${variable[@]}" --cflags rubus) user.c
done
same "plugindir" "$(pkg-config "${variable[@]}" --variable=plugindir rubus)" \
    "$work/plain/$lib/rubus/plugins-1"

# --- what must not be inside ------------------------------------------------------------
# The prefix itself is known to the library, and may lie below one of these folders.
find plain -type f -print0 | xargs -0 cat | tr -c '[:print:]' '\n' |
    sed "s,$prefix,,g" >inside.txt
for folder in "$here" "$source_dir"; do
    checks=$((checks + 1))
    ! grep -qF -- "$folder" inside.txt ||
        note_failure "paths" "$(grep -F -- "$folder" inside.txt | head -n 3)"
done
finish
