# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A process whose locale has a decimal comma, as a desktop program sets it: numbers are
# read, generated and written with a point.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
cd "$work" || exit 99
if ! localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 2>/dev/null &&
    [ ! -d de_DE.UTF-8 ]; then
    echo "skipped: localedef cannot make de_DE.UTF-8 (package locales)"
    exit 77
fi
localedef -i tr_TR -f UTF-8 ./tr_TR.UTF-8 2>/dev/null
cat >shim.c <<'END'
#include <locale.h>
__attribute__((constructor)) static void start(void) { setlocale(LC_ALL, ""); }
END
cat >show.c <<'END'
#include <stdio.h>
int main(void) { printf("%.1f\n", 1.5); return 0; }
END
check "shim" ${RUBUS_TEST_CC:-cc} -shared -fPIC shim.c -o shim.so
check "show" ${RUBUS_TEST_CC:-cc} show.c -o show
case ${RUBUS_TEST_CFLAGS:-} in
    *-fsanitize*)
        echo "skipped: a preloaded library does not go with a sanitizer"
        exit 77
        ;;
esac
export LOCPATH=$work
german() { LC_ALL=de_DE.UTF-8 LD_PRELOAD=$work/shim.so "$@"; }
same "the shim works" "$(german ./show)" 1,5

cat >k.rk <<'END'
kernel k(out real B[n], in real A[n], real s) { B = 0.75 * A + s; }
END
echo '{"arrays": {"A": {"shape": [2], "data": [1.5, -0.25]}, "B": {"shape": [2]}},
 "launch": [["k", "B", "A", 0.125]]}' >k.json
for backend in reference threads; do
    check "run on $backend" german "$rubus" run k.rk --case k.json -b $backend
    same "run on $backend" "$(cat out)" 'B: 1.25 -0.0625'
done
check "fresh compile" german env RUBUS_CACHE_DIR=off "$rubus" run k.rk --case k.json
same "fresh compile" "$(cat out)" 'B: 1.25 -0.0625'
check "emit" german "$rubus" kernel emit k.rk --dialect c
says "emit" '0\.75|0x1\.8p-1' out

printf '1.5\n0.25 # comment\n2.5\n' >lam.txt
for ending in vtk tsv txt; do
    LC_ALL=C "$rubus" solve --dim 1 --nx 16 --niter 50 -o plain.$ending >/dev/null 2>&1
    german "$rubus" solve --dim 1 --nx 16 --niter 50 -o german.$ending >/dev/null 2>&1
    check "solve, .$ending" cmp plain.$ending german.$ending
    lacks "solve, .$ending" '[0-9],[0-9]' german.$ending
done
german "$rubus" solve --dim 1 --nx 4 --lambda lam.txt --lx 2.5 --json --history h.csv \
    >json 2>/dev/null
lacks "json" '[0-9],[0-9]' json
says "json" '"residual": [0-9.e-]+[,}]' json
# the second value lies halfway between two doubles, the third is not normal
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 3 3' '1 1 1.5' \
    '2 2 9007199254740993.0' '3 3 4.9e-324' >a.mtx
check "spmv" german "$rubus" spmv a.mtx -o y.mtx
same "spmv" "$(sed 1,2d y.mtx | paste -sd ' ')" '1.5 9007199254740992 5e-324'
check "spmv, printed" german "$rubus" spmv a.mtx
same "spmv, printed" "$(head -n 1 out)" 1.5
if [ -d tr_TR.UTF-8 ]; then
    check "a matrix with a dotless i" env LC_ALL=tr_TR.UTF-8 LD_PRELOAD="$work/shim.so" \
        "$rubus" spmv a.mtx
    check "a locale with a dotless i" env LC_ALL=tr_TR.UTF-8 LD_PRELOAD="$work/shim.so" \
        RUBUS_BACKEND=REFERENCE "$rubus" run k.rk --case k.json -o u.TXT
fi
finish
