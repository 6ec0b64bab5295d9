# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The folder of tools/bundle: unpacked, moved and started in an empty environment it solves
# on the CPU without any compiler and on Vulkan with its own, and needs nothing of this
# machine but libc, the loader and a driver.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
for file in rubus-vulkan.so rubus-glsl.so; do
    if [ ! -f "$here/.libs/$file" ]; then
        echo "skipped: $file was not built"
        exit 77
    fi
done
if ! command -v readelf >/dev/null || ! command -v xz >/dev/null; then
    echo "skipped: readelf or xz is missing"
    exit 77
fi
case ${RUBUS_TEST_CFLAGS:-} in
    *-fsanitize*)
        echo "skipped: a build with sanitizers needs their libraries"
        exit 77
        ;;
esac
cd "$work" || exit 99
unset RUBUS_PLUGIN_PATH RUBUS_CACHE_DIR

check "bundle" "$source_dir/tools/bundle" --build "$here" rubus.tar.xz
same "it says where" "$(tail -n 1 out)" rubus.tar.xz
checks=$((checks + 1))
! "$source_dir/tools/bundle" --build "$here" rubus.tar.xz >out 2>err || note_failure "twice" \
    "a file that exists was overwritten"
says "twice" 'exists already' err
checks=$((checks + 1))
! "$source_dir/tools/bundle" --build "$work" again >out 2>err || note_failure "no build" \
    "a folder that is no build was taken"
says "no build" 'no build folder' err

mkdir unpacked && tar -C unpacked -xJf rubus.tar.xz
moved="$work/a b/moved"
mkdir "a b" && mv unpacked/* "$moved"
rubus=$moved/bin/rubus

# --- what it needs ------------------------------------------------------------------------
find "$moved" -type f -exec sh -c 'head -c 4 "$1" | grep -q ELF' sh {} \; -print >elves
checks=$((checks + 1))
[ "$(wc -l <elves)" -ge 8 ] || note_failure "ELF files" "only $(wc -l <elves)"
while IFS= read -r file; do
    name=${file#"$moved"/}
    readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -vE '^(libc|libm|libdl|libpthread|librt)\.so\.[0-9]+$|^ld-linux' |
        while IFS= read -r library; do
            [ -f "$moved/lib/$library" ] || echo "$library"
        done >outside
    same "$name needs" "$(cat outside)" ''
    path=$(readelf -d "$file" | sed -n 's/.*(R[UN]*PATH).*\[\(.*\)\]/\1/p')
    checks=$((checks + 1))
    [[ $path =~ ^($|\$ORIGIN(/\.\./lib)?$) ]] || note_failure "$name looks in" "$path"
    checks=$((checks + 1))
    ! LC_ALL=C grep -qaF -e "$here" -e "$source_dir" "$file" ||
        note_failure "$name" "tells where it was built"
done <elves
check "loaded" env -i LD_TRACE_LOADED_OBJECTS=1 "$rubus"
for library in librubus libltdl libmd libjansson libz; do
    checks=$((checks + 1))
    grep -F "$moved/" out | grep -q "^[[:blank:]]*$library\\.so" ||
        note_failure "$library" "not the one of the folder"
done
same "nothing that others may write to" "$(find "$moved" -perm /022 ! -type l)" ''

# --- in an empty environment --------------------------------------------------------------
check "devices" env -i "$rubus" devices
for name in threads vulkan; do
    says "devices: $name" "^    $moved/(bin/\\.\\./)?lib/rubus/plugins-1/rubus-$name\\.so" out
done
for kernels in math index fused; do
    check "solve, $kernels" env -i PATH=/nonexistent "$rubus" solve --dim 1 --nx 64 \
        --kernels $kernels --json
    says "solve, $kernels" '"iterations": 630,' out
done
echo 'kernel twice(out real B[n], in real A[n]) { B = 2 * A; }' >k.rk
echo '{"arrays": {"A": {"shape": [4], "data": [1, 2, 3, 4]}, "B": {"shape": [4]}},
 "launch": [["twice", "B", "A"]]}' >k.json
fails "a kernel of one's own, no compiler" 4 env -i PATH=/nonexistent RUBUS_CC=no-such-cc \
    "$rubus" run k.rk --case k.json
says "a kernel of one's own, no compiler" 'RUBUS_CC' err
status_of() { # NAME STATUS COMMAND...
    local name=$1 want=$2
    shift 2
    "$@" >out 2>err
    same "$name" $? "$want"
}
status_of "a picture" 4 env -i "$rubus" solve --nx 8 --plot u.png
says "a picture" 'drawing module' err
if [ -n "${VK_DRIVER_FILES:-}" ]; then
    vulkan=(env -i "VK_DRIVER_FILES=$VK_DRIVER_FILES" "VK_ICD_FILENAMES=$VK_DRIVER_FILES")
    check "solve on vulkan" "${vulkan[@]}" "$rubus" solve --dim 1 --nx 64 -b vulkan --json
    says "solve on vulkan" '"iterations": 630,' out
    check "run on vulkan" "${vulkan[@]}" "$rubus" run k.rk --case k.json -b vulkan
    same "run on vulkan" "$(cat out)" 'B: 2 4 6 8'
fi

# --- gpu-check ----------------------------------------------------------------------------
check "gpu-check --help" env -i PATH="$PATH" "$moved/gpu-check" --help
says "gpu-check --help" '--device' out
status_of "gpu-check --colour" 2 env -i PATH="$PATH" "$moved/gpu-check" --colour
status_of "gpu-check without a driver" 4 env -i PATH="$PATH" VK_DRIVER_FILES=/no.json \
    VK_ICD_FILENAMES=/no.json "$moved/gpu-check"
says "gpu-check without a driver" 'no Vulkan device' err
if [ -n "${VK_DRIVER_FILES:-}" ]; then
    vulkan+=("PATH=$PATH")
    status_of "gpu-check on software alone" 4 "${vulkan[@]}" "$moved/gpu-check"
    says "gpu-check on software alone" '--device software' err
    status_of "gpu-check on no such device" 4 "${vulkan[@]}" "$moved/gpu-check" --device 7
    says "gpu-check on no such device" "'7' cannot be used" err
    if [ -n "${RUBUS_TEST_LONG:-}" ]; then
        check "gpu-check" "${vulkan[@]}" "$moved/gpu-check" --device software --quick
        says "gpu-check" '^1D, 64 a side, f64, fused +630 iterations.* ok$' out
        says "gpu-check" '^all results are right on ' out
        lacks "gpu-check" 'WRONG' out
    fi
fi
finish
