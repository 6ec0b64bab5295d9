# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A backend that is no part of the library: examples/opencl_backend, built against an
# installed copy by pkg-config alone, runs every kernel of the library on an OpenCL device.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
if ! pkg-config --exists OpenCL; then
    echo "skipped: the headers of OpenCL are missing (ocl-icd-opencl-dev, opencl-headers)"
    exit 77
fi
if ! find /etc/OpenCL/vendors -name '*.icd' 2>/dev/null | grep -q .; then
    echo "skipped: there is no OpenCL driver (pocl-opencl-icd)"
    exit 77
fi
case ${RUBUS_TEST_CFLAGS:-} in
    *-fsanitize*)
        echo "skipped: the driver's compiler is not made for sanitizers"
        exit 77
        ;;
esac
cd "$work" || exit 99
unset RUBUS_PLUGIN_PATH RUBUS_BACKEND
export RUBUS_CACHE_DIR=$work/cache POCL_CACHE_DIR=$here/tests/cache/pocl
mkdir -p "$POCL_CACHE_DIR" && chmod 0700 "$POCL_CACHE_DIR"

# --- installed, then built against it -------------------------------------------------------
check "make install" env -u MAKEFLAGS -u MFLAGS make -C "$here" --no-print-directory -s \
    install DESTDIR="$work/root"
rubus=$(find root -path '*/bin/rubus')
headers=$(dirname "$(find root -path '*/rubus/backend.h')")
pc=$(find root -name rubus.pc)
check "is installed" test -x "$rubus" -a -f "$headers/backend.h" -a -f "$pc"
rubus=$work/$rubus
prefix=$(pkg-config --variable=prefix "$pc")
mkdir tools
printf '#!/bin/sh\nexec %s --define-variable=prefix=%s "$@"\n' "$(command -v pkg-config)" \
    "$work/root$prefix" >tools/pkg-config
chmod +x tools/pkg-config
cp -r "$source_dir/examples/opencl_backend" plugin
chmod -R u+w plugin
same "sources include their own headers and installed ones" "$(grep -h '^#include "' plugin/*.c |
    sort -u)" '#include "opencl_backend.h"'
checks=$((checks + 1))
[ "$(cat plugin/*.c plugin/*.h | wc -l)" -le 1000 ] || note_failure "size" "over 1000 lines"
build_env=(env -u MAKEFLAGS -u MFLAGS "PATH=$work/tools:$(dirname "$rubus"):$PATH"
    "PKG_CONFIG_PATH=$(dirname "$work/$pc")")
check "make" "${build_env[@]}" make -C plugin CFLAGS='-O2 -Werror'
check "no symbol of the library is asked for" sh -c \
    "! nm -D --undefined-only plugin/rubus-opencl.so | grep rubus"
same "what it exports" "$(nm -D --defined-only plugin/rubus-opencl.so | sed 's/.* //')" \
    rubus_backend_plugin

# --- what a user does -----------------------------------------------------------------------
fails "without the plugin" 4 env RUBUS_BACKEND=opencl "$rubus" solve --nx 8
says "without the plugin" 'rubus-opencl\.so was not found' err
export RUBUS_PLUGIN_PATH=$work/plugin
check "devices" "$rubus" devices -v
says "devices" '^opencl 0\.1, ABI 1\.0' out
says "devices" "^ +$work/plugin/rubus-opencl\.so" out
says "devices" '^ +0: .*\((CPU|.* GPU|software),' out
says "devices" 'dialect opencl' out
export RUBUS_BACKEND=opencl
solve() { # NAME ITERATIONS OPTIONS...
    local name=$1 want=$2
    shift 2
    check "$name" "$rubus" solve --json "$@"
    says "$name" "\"backend\": \"opencl\".* \"iterations\": $want," out
    same "$name: stderr" "$(cat err)" ''
}
for kernels in math index fused; do
    solve "1D, $kernels" 630 --dim 1 --nx 64 --kernels $kernels
    solve "2D, $kernels" 845 --dim 2 --nx 128 --ny 128 --kernels $kernels
    solve "3D, $kernels" 399 --dim 3 --nx 64 --ny 64 --nz 64 --kernels $kernels
done
check "the same bits as threads" "$rubus" solve --nx 40 -o opencl.bin
check "the same bits as threads" env RUBUS_BACKEND=threads "$rubus" solve --nx 40 -o threads.bin
check "the same bits as threads" cmp opencl.bin threads.bin
printf 'kernel k(out real a[n], in real b[n]) over (i) { a[i] = b[i] @ 2; }\n' >bad.rk
echo '{"arrays": {"a": {"shape": [2]}, "b": {"shape": [2]}}, "launch": [["k", "a", "b"]]}' >k.json
fails "a kernel with errors" 3 "$rubus" run bad.rk --case k.json
# a second process takes programs from the cache; a damaged one is compiled anew
ls cache/*-cl.* >kept 2>/dev/null
checks=$((checks + 1))
[ -s kept ] || note_failure "cache" "no compiled program was stored"
while IFS= read -r file; do
    printf 'damaged' >"$file"
done <kept
solve "after damage to the cache" 630 --dim 1 --nx 64

# The other kind of grid: neighbouring points for neighbouring work-items.
cp -r "$source_dir/examples/opencl_backend" grids
chmod -R u+w grids
check "make, grids of GPUs" "${build_env[@]}" make -C grids CFLAGS='-O2 -DOPENCL_GRIDS_OF_GPUS'
RUBUS_PLUGIN_PATH=$work/grids
for kernels in math index fused; do
    solve "grids of GPUs, $kernels" 845 --dim 2 --nx 128 --ny 128 --kernels $kernels
done
check "grids of GPUs, random kernels" env -u RUBUS_BACKEND RUBUS_TEST_BACKEND=opencl \
    CK_TIMEOUT_MULTIPLIER=10 "$here/tests/kernel/test_random"
RUBUS_PLUGIN_PATH=$work/plugin

# --- certified --------------------------------------------------------------------------------
level=full
if "$rubus" conformance --help >/dev/null 2>&1; then
    check "conformance" env -u RUBUS_BACKEND "$rubus" conformance --level $level --patience 4 \
        "$work/plugin/rubus-opencl.so"
    lacks "conformance" '^not ok' out
fi

# --- the tests of the library on it -----------------------------------------------------------
export RUBUS_TEST_BACKEND=opencl CK_TIMEOUT_MULTIPLIER=10
RUBUS_PLUGIN_PATH=$work/plugin:$here/.libs/rubus/plugins-1 # some compare with threads
unset RUBUS_BACKEND
programs="kernel/test_random kernel/test_fd kernel/test_math runtime/test_results
    runtime/test_launch runtime/test_array runtime/test_checked runtime/test_blas
    grid/test_cases_grid form/test_cases_matrix form/test_problems"
# Compiling takes the driver a minute for each of these.
[ -z "${RUBUS_TEST_LONG:-}" ] || programs="$programs
    grid/test_mesh grid/test_inner grid/test_project grid/test_operator_matrix
    grid/test_kronecker grid/test_fdm grid/test_vtr sparse/test_spmv form/test_poisson
    form/test_system form/test_forms form/test_form_scatter form/test_form_matrix
    form/test_form_fill form/test_form_stored form/test_constraint"
for program in $programs; do
    check "$program" "$here/tests/$program"
done
finish
