# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Kernels that are made here: very deep, very many arguments, mistakes of every kind; and
# what the compiler tells about them.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
cd "$work" || exit 99
folder=$source_dir/tests/cases/kernels

# --- 2000 parentheses compile, 100000 are an error --------------------------------------
deep() { # N
    printf 'kernel deep(out real B[n], in real A[n]) over (i)\n{\n    B[i] = '
    awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "("; printf "A[i]";
        for (i = 0; i < n; i++) printf " + 1)"; print ";\n}" }'
}
deep 2000 >deep.rk
deep 100000 >deeper.rk
echo '{"arrays": {"A": {"shape": [2], "data": [1, 2]}, "B": {"shape": [2]}},
 "launch": [["deep", "B", "A"]]}' >deep.json
for backend in reference threads; do
    check "deep on $backend" "$rubus" run deep.rk --case deep.json -b $backend
    same "deep on $backend" "$(cat out)" 'B: 2001 2002'
done
fails "deeper" 3 "$rubus" kernel check deeper.rk
says "deeper" '^rubus: deeper\.rk:[0-9]+:[0-9]+: error\[K[0-9]+\]' err

# --- 35 arrays and 40 scalars -----------------------------------------------------------
awk 'BEGIN {
    printf "kernel many(out real o[n]"
    for (i = 1; i <= 34; i++) printf ", in real a%02d[n]", i
    for (i = 1; i <= 40; i++) printf ", real s%02d", i
    printf ") over (i)\n{\n    o[i] = 0"
    for (i = 1; i <= 34; i++) printf " + a%02d[i]", i
    for (i = 1; i <= 40; i++) printf " + s%02d", i
    print ";\n}"
}' >many.rk
awk 'BEGIN {
    printf "{\"arrays\": {\"o\": {\"shape\": [5]}"
    for (i = 1; i <= 34; i++) printf ", \"a%02d\": {\"shape\": [5], \"fill\": %d}", i, i
    printf "}, \"launch\": [[\"many\", \"o\""
    for (i = 1; i <= 34; i++) printf ", \"a%02d\"", i
    for (i = 1; i <= 40; i++) printf ", %.1f", i / 2
    print "]]}"
}' >many.json
for backend in reference threads; do
    check "many arguments on $backend" "$rubus" run many.rk --case many.json -b $backend
    same "many arguments on $backend" "$(cat out)" 'o: 1005 1005 1005 1005 1005'
done

# --- names are code points, whatever the locale -----------------------------------------
for locale in C C.UTF-8; do
    check "names under $locale" env LC_ALL=$locale "$rubus" run "$folder/unicode.rk" \
        --case "$folder/unicode.json" -b reference
    says "names under $locale" '^θ: -3 5 13$' out
done
printf 'kernel k(inout real a[n])\n{\n    a = a + \xff;\n}\n' >utf8.rk
fails "invalid UTF-8" 3 "$rubus" kernel check utf8.rk
says "invalid UTF-8" '^rubus: utf8\.rk:3:13: error' err

# --- mistakes, one a line: each names its line ------------------------------------------
mistake() { # NAME LINE TEXT
    printf '%s\n' "$3" >"$1.rk"
    fails "$1" 3 "$rubus" kernel check "$1.rk"
    says "$1" "^rubus: $1\\.rk:$2:[0-9]+: error\\[K[0-9]{3}\\]: " err
    lacks "$1" 'void k[0-9]|#include' err
}
mistake open_brace 3 $'kernel k(inout real u[n])\n{\n    u = 1;'
mistake unknown_op 2 $'kernel k(inout real u[n]) {\n    u = dx_i(u);\n}'
mistake no_right_side 2 $'kernel k(inout real u[n]) {\n    u = ;\n}'
mistake scalar_written 2 $'kernel k(inout real u[n], real s) over (i) {\n    s = 1;\n}'
mistake sizes_differ 2 $'kernel k(out real u[n], in real v[n+1]) {\n    u = v;\n}'
mistake race 2 $'kernel k(inout real u[n]) {\n    u[1:] = u[:-1];\n}'
mistake chain 2 $'kernel k(out real u[n], in real v[n]) {\n    u = 0 < v < 1 ? 1 : 0;\n}'
printf 'kernel k(inout real u[n]) {\n    u = a;\n    u = b;\n}\n' >several.rk
fails "several names" 3 "$rubus" kernel check several.rk
says "several names" '^rubus: several\.rk:2:9: error' err
says "several names" '^rubus: several\.rk:3:9: error' err
printf 'kernel k(inout real u[n]) {\n    u = ;\n}\nkernel l( {\n}\n' >syntax.rk
fails "several in the syntax" 3 "$rubus" kernel check syntax.rk
says "several in the syntax" '^rubus: syntax\.rk:2:9: error' err
says "several in the syntax" '^rubus: syntax\.rk:4:' err

# --- imports ----------------------------------------------------------------------------
mkdir -p 'a folder'
echo 'op twice(A[]) = A + A;' >'a folder/ops.rk'
printf 'import "ops.rk";\nkernel k(inout real u[n]) { u = twice(u); }\n' \
    >'a folder/main.rk'
echo '{"arrays": {"u": {"shape": [2], "data": [1, 2]}}, "launch": [["k", "u"]]}' >u.json
check "import" "$rubus" run 'a folder/main.rk' --case u.json -b reference
same "import" "$(cat out)" 'u: 2 4'
printf '\nimport "nowhere.rk";\n' >importing.rk
fails "missing import" 3 "$rubus" kernel check importing.rk
says "missing import" 'importing\.rk:2:.*nowhere\.rk' err

# --- launches that do not fit -----------------------------------------------------------
echo 'kernel scale(out real u[n], in real v[n], real s, int m) { u = v * s + m; }' >k.rk
launch() { # NAME ARGS PATTERN
    echo '{"arrays": {"u": {"shape": [3]}, "v": {"shape": [3]}, "w": {"shape": [4]},
        "b": {"shape": [3], "type": "bool"}}, "launch": [["scale"'"$2"']]}' >launch.json
    fails "$1" 3 "$rubus" run k.rk --case launch.json -b reference
    says "$1" "$3" err
}
launch 'too few arguments' ', "u", "v", 1' '3 arguments given, 4 needed'
launch 'too many arguments' ', "u", "v", 1, 2, 3' '5 arguments given, 4 needed'
launch 'wrong shape' ', "u", "w", 1, 2' '3.*4|4.*3'
launch 'wrong type' ', "u", "b", 1, 2' 'bool'
launch 'one array twice' ', "u", "u", 1, 2' 'u.*v|v.*u'
launch 'array for a scalar' ', "u", "v", "w", 2' 'parameter s is a scalar'
launch 'scalar for an array' ', "u", 5, 1, 2' 'parameter v is an array'
launch 'real for an int' ', "u", "v", 1, 2.5' 'm'
sed -i 's/"scale"/"scael"/' launch.json
fails "no such kernel" 3 "$rubus" run k.rk --case launch.json -b reference
says "no such kernel" 'scael.*scale' err

# --- what explain and emit tell ---------------------------------------------------------
cat >step.rk <<'END'
kernel step(out real un[nx,ny], out real dn[nx-2,ny-2], in real u[nx,ny],
            in real d[nx-2,ny-2], in real lam[nx,ny], in real Q[nx-2,ny-2], real alpha,
            real beta, real _dx, real _dy)
{
    let v  = u + alpha * pad(d, 0);
    let qx = -av_xi(lam) * d_xi(v) * _dx;
    let qy = -av_yi(lam) * d_yi(v) * _dy;
    un = v;
    dn = beta * d - Q * (d_xa(qx) * _dx + d_ya(qy) * _dy);
}
kernel twosteps(inout real u[nx,ny], inout real d[nx-2,ny-2], in real lam[nx,ny],
                in real Q[nx-2,ny-2], real alpha, real beta, real _dx, real _dy)
{
    inn(u) += alpha * d;
    let qx = -av_xi(lam) * d_xi(u) * _dx;
    let qy = -av_yi(lam) * d_yi(u) * _dy;
    d = beta * d - Q * (d_xa(qx) * _dx + d_ya(qy) * _dy);
}
END
check "explain" "$rubus" kernel explain step.rk
check "explain --json" "$rubus" kernel explain step.rk --json
tr -d ' \n' <out >flat
same "step is one pass" "$(grep -o '"bytes_per_point"' flat | wc -l)" 3
says "step is one pass" '^\{"kernels":\[\{"name":"step","indices":0,"passes":\[\{' flat
says "two passes" '"name":"twosteps","indices":0,"passes":\[\{[^}]*\},\{' flat
for dialect in c rk; do
    check "emit $dialect" "$rubus" kernel emit step.rk --dialect $dialect
    checks=$((checks + 1))
    [ -s out ] || note_failure "emit $dialect" "nothing was printed"
done
fails "emit of an unknown dialect" 3 "$rubus" kernel emit step.rk --dialect latin
says "emit of an unknown dialect" 'latin' err
check "f32 stays f32" "$rubus" kernel emit "$folder/f32_literals.rk" --dialect c --real f32
cp out emitted.c
# shellcheck disable=SC2086 # flags are words
check "emitted text compiles without warnings" ${RUBUS_TEST_CC:-cc} -std=c11 -Wall -Wextra \
    -Werror -Wdouble-promotion -c -o emitted.o emitted.c

# One formula in all spellings costs the same; the library's functions cost ten.
cat >spellings.rk <<'END'
func real f(real x) { return x * x + 1; }
func real g(real x) { real y = 2; y *= f(x); return y; }
op o(A[]) = A * A + 1;
kernel point(inout real u[n]) over (i in 0:n) { u[i] = u[i] * u[i] + 1; }
kernel point_func(inout real u[n]) over (i in 0:n) { u[i] = f(u[i]); }
kernel whole(inout real u[n]) { u = u * u + 1; }
kernel whole_func(inout real u[n]) { u = f(u); }
kernel whole_op(inout real u[n]) { u = o(u); }
kernel func_of_func(inout real u[n]) over (i in 0:n) { u[i] = g(u[i]); }
kernel point_exp(inout real u[n]) over (i in 0:n) { u[i] += exp(u[i]); }
kernel whole_exp(inout real u[n]) { u += exp(u); }
END
check "explain spellings" "$rubus" kernel explain spellings.rk
same "operations" "$(sed -n 's/.* and \(.*\) a point/\1/p' out | tr '\n' ';')" \
    '2 operations;2 operations;2 operations;2 operations;2 operations;3 operations;11 operations;11 operations;'
says "one array" '1 pass over 2 arrays$' out
echo 'kernel one(out real u[n]) { u = 1; }' >one.rk
check "explain one array" "$rubus" kernel explain one.rk
says "one array" '1 pass over 1 array$' out
says "one array" '1 array \(0 read, 1 written\), 8 bytes and 0 operations a point$' out
says "one access" ' 1 access inside its array ' out

# --- chains of definitions --------------------------------------------------------------
# Each func calls the one before it twice: 2^40 calls, and yet a small text.
awk 'BEGIN { print "func real f0(real x) { return x; }"
    for (i = 1; i < 40; i++)
        printf "func real f%d(real x) { return f%d(x) + f%d(x); }\n", i, i - 1, i - 1
    print "kernel k(inout real u[n]) over (i in 0:n) { u[i] = f39(u[i]); }"
    print "kernel w(inout real u[n]) { u = f39(u); }" }' >twice.rk
for what in explain 'emit --dialect c' 'emit --dialect rk'; do
    read -ra words <<<"$what"
    check "funcs called twice: $what" timeout 10 "$rubus" kernel "${words[0]}" twice.rk \
        "${words[@]:1}"
done
# As ops they are expanded, so the limit must come before time and memory are used up.
sed -n 's/^func real f\([0-9]*\)(real x) { return \(.*\); }/op f\1(x[]) = \2;/p
    /^kernel w/p' twice.rk >twice_ops.rk
fails "ops called twice" 3 timeout 20 "$rubus" kernel check twice_ops.rk
says "ops called twice" 'error\[K140\]' err
awk 'BEGIN { print "func real f0(real x) { return x; } op o0(A[]) = A;"
    for (i = 1; i < 20000; i++) {
        printf "func real f%d(real x) { return f%d(x) + 1; }\n", i, i - 1
        printf "op o%d(A[]) = o%d(A) + 1;\n", i, i - 1
    }
    print "kernel k(inout real u[n]) over (i in 0:n) { u[i] = f19999(u[i]); }"
    print "kernel w(inout real u[n]) { u = o100(u); }" }' >chain.rk
check "long chains" timeout 10 "$rubus" kernel explain chain.rk
says "long chains" ' and 19999 operations a point' out

# funcs that call themselves, called by kernels of both kinds and by a reduction
cat >cycle.rk <<'END'
func real g(real x) { return g(x); }
func real a(real x) { return b(x) + 1; }
func real b(real x) { return a(x); }
kernel k(out real u[n]) { u = g(1); }
kernel p(inout real u[n]) over (i) { u[i] = a(u[i]); }
reduce sum s(in real u[n]) = b(u);
END
fails "recursion" 3 timeout 60 "$rubus" kernel check cycle.rk
says "recursion" '^rubus: cycle\.rk:1:11: error\[K064\]: .*g -> g' err
says "recursion" '^rubus: cycle\.rk:2:11: error\[K064\]: .*a -> b -> a' err

# --- slices in the wrong order ----------------------------------------------------------
for slice in 5:2 -1:-3 'n:n-2' '-0:-1'; do
    echo "kernel k(inout real u[n]) { u[$slice] = 1; }" >backward.rk
    fails "u[$slice]" 3 "$rubus" kernel check backward.rk
    says "u[$slice]" 'error\[K100\]: this slice runs backwards' err
    says "u[$slice]" 'help: ' err
done
for slice in 5:5 -0: 2:-2 'm:n' ':0'; do
    echo "kernel k(inout real u[n], in real v[m]) { u[$slice] = 1; }" >empty.rk
    check "u[$slice]" "$rubus" kernel check empty.rk
done
echo 'kernel k(inout real u[n]) over (i) { int e = 1; int f = e++; u[i] = f; }' >value.rk
fails "++ as a value" 3 "$rubus" kernel check value.rk
says "++ as a value" 'help: .*are statements' err
finish
