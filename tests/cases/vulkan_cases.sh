# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What users of GPU libraries met, on the software device: no driver, the software device
# by itself, limits of memory, bindings and groups, the end of the process, threads, leaks,
# noise on stdout, the order of writes.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
if [ ! -f "$here/.libs/rubus/plugins-1/rubus-vulkan.so" ]; then
    echo "skipped: the backend vulkan was not built"
    exit 77
fi
if [ ! -f "${VK_DRIVER_FILES:-}" ]; then
    echo "skipped: there is no software driver"
    exit 77
fi
cd "$work" || exit 99
unset RUBUS_BACKEND
often=1
[ -z "${RUBUS_TEST_LONG:-}" ] || often=10
on=(-b 'vulkan:software')

echo 'kernel copy(out real B[n], in real A[n]) { B = 2 * A; }' >copy.rk
echo '{"arrays": {"A": {"shape": [4], "data": [1, 2, 3, 4]}, "B": {"shape": [4]}},
 "launch": [["copy", "B", "A"]]}' >copy.json
copy=("$rubus" run copy.rk --case copy.json)

# --- C01: no driver -----------------------------------------------------------------------
none=(env VK_DRIVER_FILES=/nonexistent.json VK_ICD_FILENAMES=/nonexistent.json)
check "no driver: devices" "${none[@]}" "$rubus" devices
says "no driver: devices" '^threads ' out
says "no driver: devices" 'no Vulkan device was found' out
lacks "no driver: devices" 'software GPU' out
check "no driver: run" "${none[@]}" "${copy[@]}"
same "no driver: run" "$(cat out)" 'B: 2 4 6 8'
check "no driver: auto" "${none[@]}" "${copy[@]}" -b auto -v
says "no driver: auto" 'backend threads' err
fails "no driver: vulkan" 4 "${none[@]}" "${copy[@]}" -b vulkan
says "no driver: vulkan" 'no Vulkan device.*VK_ICD_FILENAMES=/nonexistent.json' err

# --- C02: the software device is never chosen by itself -----------------------------------
check "devices" "$rubus" devices
says "devices" '\(software GPU' out
for choice in '' auto; do
    check "choice '$choice'" "${copy[@]}" ${choice:+-b $choice} -v
    says "choice '$choice'" 'backend threads' err
done
check "an explicit choice" "${copy[@]}" "${on[@]}" -v
same "an explicit choice" "$(cat out)" 'B: 2 4 6 8'
says "an explicit choice" 'backend vulkan' err
fails "no discrete one" 4 "${copy[@]}" -b vulkan:discrete
says "no discrete one" "no device of backend 'vulkan' matches" err

# --- C04: no double precision -------------------------------------------------------------
checks=$((checks + 1))
"${copy[@]}" -b vulkan:software:fp64=off >out 2>err && note_failure "no fp64" "it ran"
says "no fp64" '^rubus: .*has no f64' err
says "no fp64" 'f32' err
checks=$((checks + 1))
grep -qF "$("$rubus" devices | sed -n 's/^    0: \(.*\) (software.*/\1/p')" err ||
    note_failure "no fp64" "the device is not named"
check "no fp64, f32" "${copy[@]}" --real f32 -b vulkan:software:fp64=off
same "no fp64, f32" "$(cat out)" 'B: 2 4 6 8'

# --- C05, C06, C07: limits; without the layer, which costs most of the time here ----------
unset VK_INSTANCE_LAYERS VK_LAYER_ENABLES
sed 's/"shape": \[4\], "data": \[1, 2, 3, 4\]/"shape": [400000000], "fill": 1/
    s/"B": {"shape": \[4\]}/"B": {"shape": [400000000]}/' copy.json >large.json
fails "3.2 GB" 3 "$rubus" run copy.rk --case large.json "${on[@]}"
says "3.2 GB" '3200000000' err
echo 'kernel f(inout real B[n]) over (i in 0:n) { B[i] += i + 1; }
reduce sum total(in real B[n]) = B;' >range.rk
echo '{"arrays": {"B": {"shape": [20000000], "fill": 0.5}},
 "launch": [["f", "B"], ["total", "B", "t"]], "print": ["t"]}' >range.json
for spec in vulkan:software vulkan:software:cap.max_binding=134217728; do
    check "160 MB on $spec" "$rubus" run range.rk --case range.json -b $spec
    same "160 MB on $spec" "$(cat out)" 't: 200000020000000'
done
# Where no large array fits, the speed of memory is measured with smaller ones.
check "1 MB buffers" "$rubus" solve --nx 64 --bench --niter 20 \
    -b vulkan:software:cap.max_buffer=1048576
fails "160 MB bound" 3 "$rubus" run range.rk --case range.json \
    -b vulkan:software:descriptors=on:cap.max_binding=134217728
says "160 MB bound" '160000000.*134217728' err

cat >groups.rk <<'END'
kernel f(out real B[n]) over (i in 0:n) { B[i] = (i + 1) % 1000; }
kernel g(out real B[nx,ny,nz]) over (i, j, k) { B[i, j, k] = (i + 1) % 1000; }
reduce sum total(in real B[n]) = B;
reduce min least(in real B[n]) = B;
reduce min least3(in real B[nx,ny,nz]) = B;
reduce sum total3(in real B[nx,ny,nz]) = B;
END
groups() { # SHAPE SPEC WANTED-SUM
    local dims=${1//[^,]/}
    local kernel=f rank=
    [ -z "$dims" ] || kernel=g rank=3
    echo '{"arrays": {"B": {"shape": ['"$1"'], "fill": -1}}, "launch": [["'$kernel'", "B"],
        ["total'$rank'", "B", "t"], ["least'$rank'", "B", "l"]], "print": ["t", "l"]}' >g.json
    check "[$1] on $2" "$rubus" run groups.rk --case g.json -b "$2"
    says "[$1] on $2" "^t: $3\$" out
    lacks "[$1] on $2" '^l: -1' out
}
groups 16777217 vulkan:software 8380135153
groups 33553921 vulkan:software 16760148081
groups 16777217 vulkan:software:cap.groups=64 8380135153
groups 16777217,1,1 vulkan:software 8380135153
groups 1,1048577,1 vulkan:software 1048577 # more turns of a loop than the driver makes
groups 3,1,300001 vulkan:software 1800006
[ -z "${RUBUS_TEST_LONG:-}" ] || groups 1,16777217,1 vulkan:software 16777217
groups 2,70000,2 vulkan:software:cap.groups=64 420000
echo '{"arrays": {"B": {"shape": [16777217], "fill": -1}}, "launch": [["f", "B"]]}' >c07.json
check "f32 in a file" "$rubus" run groups.rk --case c07.json --real f32 "${on[@]}" -o b.bin
for pair in 16776961:961 16777217:217; do
    same "f32 element ${pair%:*}" "$(od -An -t f4 -j $((4 * (${pair%:*} - 1))) -N 4 b.bin |
        tr -d ' ')" "${pair#*:}"
done

# shellcheck source=tests/support/vulkan_environment.sh
. "$source_dir/tests/support/vulkan_environment.sh"

# --- programs -----------------------------------------------------------------------------
# shellcheck disable=SC2086 # a command with flags
check "compile the programs" ${RUBUS_TEST_CC:-cc} ${RUBUS_TEST_CFLAGS:-} -D_GNU_SOURCE \
    -Wall -Wextra -I"$here" -I"$source_dir/include" "$source_dir/tests/cases/vulkan_hosts.c" \
    -o hosts -L"$here/.libs" -lrubus -Wl,-rpath,"$here/.libs" -lpthread -ldl || finish
host() { # NAME ARGUMENTS...
    local name=$1
    shift
    check "$name" timeout 120 ./hosts "$@"
    same "$name" "$(cat out)" ok
}
host "C05 from C" large vulkan:software:validate=1
says "C05 from C" '3200000000' err
# C09: the end of the process, with the validation layer of the tests and without it
for layers in "${VK_INSTANCE_LAYERS:-}" ''; do
    for ((i = 0; i < 2 * often; i++)); do
        VK_INSTANCE_LAYERS=$layers
        [ -n "$layers" ] || unset VK_INSTANCE_LAYERS
        host "C09 return, layers '$layers'" exit vulkan:software
        host "C09 atexit, layers '$layers'" atexit vulkan:software
        # under TSan the child of a program with threads can start none, and hangs at its end
        case ${RUBUS_TEST_CFLAGS:-} in
            *-fsanitize=thread*) ;;
            *) host "forks, layers '$layers'" fork vulkan:software ;;
        esac
        for destroy in 0 1; do
            host "C09 unload $destroy, layers '$layers'" unload "$here/.libs/librubus.so" \
                vulkan:software $destroy
        done
    done
done
# shellcheck source=tests/support/vulkan_environment.sh
. "$source_dir/tests/support/vulkan_environment.sh"
for spec in threads vulkan:software:validate=1; do
    host "C11 one context, $spec" threads $spec 0
    host "C11 eight contexts, $spec" threads $spec 1
done
host "C12" leaks vulkan:software:validate=1 $((10 * often))
for spec in threads vulkan:software:validate=1 vulkan:software:descriptors=on:validate=1; do
    host "C16 $spec" order $spec $((60 * often))
done

# --- C14: noise on stdout -----------------------------------------------------------------
echo '{"file_format_version": "1.0.0", "ICD": {"library_path": "./notelf.so",
 "api_version": "1.3.0"}}' >notelf.json
echo 'no library' >notelf.so
noisy=$work/notelf.json:$VK_DRIVER_FILES
check "noise" env VK_DRIVER_FILES="$noisy" VK_ICD_FILENAMES="$noisy" VK_LOADER_DEBUG=all \
    "$rubus" devices --json
same "noise: lines" "$(wc -l <out)" 1
says "noise: one object" '^\{.*\}$' out
says "noise: the good driver" '"software GPU"' out
finish
