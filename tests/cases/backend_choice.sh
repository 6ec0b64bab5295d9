# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Which backend runs: the variable in all its spellings, folders and files that are no
# plugins, plugins of another ABI.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
cd "$work" || exit 99
plugins=$RUBUS_PLUGIN_PATH
# A folder whose owner and mode are ours, for the plugins that are copied.
mkdir good && cp "$plugins"/rubus-*.so good/ && chmod 755 good good/*

echo 'kernel k(out real B[n]) { B = 1.5; }' >k.rk
echo '{"arrays": {"B": {"shape": [2]}}, "launch": [["k", "B"]]}' >k.json
run=("$rubus" run k.rk --case k.json)
works() { # NAME VALUE
    check "$1" env RUBUS_BACKEND="$2" "${run[@]}" -v
    same "$1" "$(cat out)" 'B: 1.5 1.5'
    says "$1" "backend $3" err
}

# --- the variable -----------------------------------------------------------------------
check "unset" env -u RUBUS_BACKEND "${run[@]}" -v
says "unset" 'backend threads \(default\)' err
works "empty" '' threads
works "blank" '   ' threads
works "lower case" cpu threads
works "upper case" CPU threads
works "blanks around" ' cpu ' threads
works "interpreter" reference reference
works "number of threads" threads:threads=1 threads
works "a list" 'vulkan_of_nobody;threads' threads
check "an option beats the variable" env RUBUS_BACKEND=nothing "${run[@]}" -b reference
for bad in '/usr/lib/libm.so.6' 'threads;' 'threads:threads=0' 'threads:speed=9' \
    'threads:threads=two' 'threads x'; do
    fails "RUBUS_BACKEND='$bad'" 2 env RUBUS_BACKEND="$bad" "${run[@]}" || continue
done
fails "an unknown name" 4 env RUBUS_BACKEND=thread "${run[@]}"
says "an unknown name" 'threads' err
says "an unknown name lists what exists" 'reference' err
# Backends that the project knows and that are not in this installation. vulkan may be
# built here: a copy of the library whose folder of plugins has all but that stands for an
# installation without it.
without=$work/without
mkdir -p "$without/rubus/plugins-1" && cp -P "$here"/.libs/librubus.so* "$without/" &&
    cp good/rubus-threads.so "$without/rubus/plugins-1/" && chmod -R go-w "$without"
copy=(env -u RUBUS_PLUGIN_PATH LD_LIBRARY_PATH="$without" "$here/tools/rubus/.libs/rubus")
for known in cuda hip metal oneapi opencl vulkan; do
    if "${copy[@]}" devices | grep -q "^$known "; then
        echo "left out: $known is installed where this build would be"
        continue
    fi
    fails "$known is not installed" 4 "${copy[@]}" run k.rk --case k.json -b $known
    says "$known is not installed: the file" "rubus-$known\\.so" err
    checks=$((checks + 1))
    grep -qF "$without/rubus/plugins-1" err || note_failure "$known" "the folder is not named"
    fails "$known by the variable" 4 env RUBUS_BACKEND=$known "${copy[@]}" run k.rk \
        --case k.json
done
check "devices without it" "${copy[@]}" devices
says "devices without it" '^threads ' out

# --- folders of RUBUS_PLUGIN_PATH -------------------------------------------------------
# A bad file in the current folder shows if that is searched.
echo hello >rubus-here.so
mkdir other && cp good/*.so other/
mkdir unreadable && chmod 000 unreadable
for path in /no/such /etc/passwd "$work/unreadable" '' "$work/good:$work/other" \
    "$work/good:"; do
    check "path '$path'" env RUBUS_PLUGIN_PATH="$path" "$rubus" devices
    says "path '$path'" '^threads ' out
    lacks "path '$path'" 'rubus-here' out
done
chmod 755 unreadable
check "missing folder" env RUBUS_PLUGIN_PATH=/no/such "$rubus" devices
says "missing folder" '/no/such' out
check "the first folder wins" env RUBUS_PLUGIN_PATH="$work/good:$work/other" \
    "$rubus" devices -v
says "the first folder wins" "^ +$work/good/rubus-threads\\.so" out
check "found beside the library" env -u RUBUS_PLUGIN_PATH "$rubus" devices
says "found beside the library" "^ +$here/\\.libs/rubus/plugins-1/rubus-threads\\.so" out
check "denied" env RUBUS_PLUGIN_DENY=threads "$rubus" devices
lacks "denied" '^threads ' out

# --- who may write there ----------------------------------------------------------------
chmod 777 other
check "writable by others" env RUBUS_PLUGIN_PATH="$work/other" "$rubus" devices
checks=$((checks + 1))
grep -F "$work/other" out | grep -q refused || note_failure "writable by others" "not told"
lacks "writable by others" "^ +$work/other/rubus-threads" out
chmod 755 other && chmod 666 other/rubus-threads.so
check "writable file" env RUBUS_PLUGIN_PATH="$work/other" "$rubus" devices -v
lacks "writable file" "^ +$work/other/rubus-threads" out

# --- files that are no plugins ----------------------------------------------------------
mkdir junk && cd junk || exit 99
echo hello >rubus-text.so
: >rubus-empty.so
head -c 500 /bin/ls >rubus-cut.so
head -c 9000 ../good/rubus-threads.so >rubus-short.so
mkdir rubus-dir.so
ln -s /no/such rubus-dangling.so
echo 'int unrelated;' >unrelated.c
${RUBUS_TEST_CC:-cc} -shared -fPIC unrelated.c -o rubus-nosym.so
mkfifo rubus-fifo.so
cp rubus-nosym.so rubus-old.so.1
cp rubus-nosym.so .rubus-hidden.so
cp rubus-nosym.so RUBUS-UP.SO
{ printf '\177ELF\001\001\001'; head -c 60 /dev/zero; } >rubus-narrow.so
rm -f unrelated.c
chmod 755 .
cd ..
check "junk" timeout 20 env RUBUS_PLUGIN_PATH="$work/junk:$work/good" "$rubus" devices
cp out junk.out
says "junk" '^threads ' junk.out
for name in text empty cut short dir dangling nosym fifo narrow; do
    says "junk: $name" "refused.*junk/rubus-$name\\.so: ." junk.out
    fails "junk as backend: $name" 4 timeout 20 env RUBUS_PLUGIN_PATH="$work/junk" \
        "${run[@]}" -b $name
    says "junk as backend: $name" "rubus-$name\\.so" err
done
for name in old hidden UP; do
    lacks "no plugin name: $name" "rubus-$name|RUBUS-$name" junk.out
done

# Of many refusals, that of the plugin which was asked for comes first.
mkdir many
for number in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15; do
    echo hello >many/rubus-text$number.so
done
for name in text01 text07 text15; do
    fails "many refused, $name" 4 env RUBUS_PLUGIN_PATH="$work/many" "${run[@]}" -b $name
    same "many refused, $name" "$(grep -m 1 -o 'refused: .*' err |
        grep -c "many/rubus-$name\\.so (.*): .")" 1
    says "many refused, $name" 'refused: more; rubus devices -v' err
done

# --- another ABI ------------------------------------------------------------------------
mkdir abi
cat >fake.c <<'END'
#include <stdio.h>
#include <rubus/backend.h>
static rubus_status open_fake(const rubus_host *host, rubus_ops *room, void **out_be)
{
    (void)host, (void)room, (void)out_be;
    fputs("OPEN WAS CALLED\n", stderr);
    return RUBUS_EPLUGIN;
}
RUBUS_PLUGIN_EXPORT const rubus_plugin_desc rubus_backend_plugin = {
    .magic = RUBUS_PLUGIN_MAGIC, .struct_size = sizeof(rubus_plugin_desc),
    .abi_major = RUBUS_ABI_MAJOR + DELTA, .abi_minor = RUBUS_ABI_MINOR,
    .name = "fake", .version = "1", .vendor = "nobody", .licence = "none",
    .open = open_fake};
END
for delta in 1 -1; do
    # shellcheck disable=SC2086 # a command with flags
    check "fake plugin" ${RUBUS_TEST_CC:-cc} -shared -fPIC -DDELTA=$delta \
        -I "$source_dir/include" fake.c -o abi/rubus-fake.so
    check "ABI $delta" env RUBUS_PLUGIN_PATH="$work/abi" "$rubus" devices
    says "ABI $delta" "refused.*abi/rubus-fake\\.so.*ABI.*$((1 + delta))" out
    lacks "ABI $delta" 'OPEN WAS CALLED' err
    fails "ABI $delta as backend" 4 env RUBUS_PLUGIN_PATH="$work/abi" "${run[@]}" -b fake
    says "ABI $delta as backend" "rubus-fake\\.so" err
done

# --- what our own plugins export --------------------------------------------------------
if command -v nm >/dev/null; then
    nm -D --defined-only "$plugins"/rubus-threads.so | awk '{print $3}' |
        grep -vE '^_(init|fini)$' >exported
    same "exported symbols" "$(cat exported)" rubus_backend_plugin
fi

# --- JSON -------------------------------------------------------------------------------
check "devices --json" env RUBUS_PLUGIN_PATH="$work/junk:$work/good" "$rubus" devices --json
says "devices --json" '^\{' out
says "devices --json" '"reason": "' out
says "devices --json" '"RUBUS_PLUGIN_PATH": "' out
finish
