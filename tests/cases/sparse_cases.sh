# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# `rubus spmv`: files that people met, right and wrong, on every backend.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
cd "$work" || exit 99

file() { # NAME KIND LINE...: a Matrix Market file
    local name=$1 kind=$2
    shift 2
    { printf '%%%%MatrixMarket matrix %s\n' "$kind" && printf '%s\n' "$@"; } >"$name"
}
vector() { # NAME VALUE...
    local name=$1
    shift
    file "$name" 'array real general' "$# 1" "$@"
}
result() { # the values of y.mtx, or of what was printed
    if [ -f y.mtx ]; then
        sed 1,2d y.mtx | paste -sd ' '
    else
        paste -sd ' ' out
    fi
}
# gives NAME WANT ARGUMENT...: this y, with -o and without, in every type
gives() {
    local name="$1 on $RUBUS_BACKEND" want=$2 types
    shift 2
    for types in '' '--index i64' '--real f32' '--real f32 --index i64'; do
        rm -f y.mtx
        # shellcheck disable=SC2086 # a list of words
        check "$name $types" "$rubus" spmv "$@" $types -o y.mtx
        same "$name $types" "$(result)" "$want"
        rm -f y.mtx
    done
    check "$name, printed" "$rubus" spmv "$@"
    same "$name, printed" "$(result)" "$want"
}

for RUBUS_BACKEND in reference threads:threads=1 threads:threads=3 $vulkan_specs; do
    export RUBUS_BACKEND
    file a.mtx 'array real skew-symmetric' '4 4' 2 -3 0.5 7 -1 4
    vector x.mtx 1 2 3 4
    gives "skew-symmetric array" '3 -15 -5 10.5' a.mtx -x x.mtx

    file a.mtx 'coordinate pattern symmetric' '5 5 6' '2 1' '3 2' '4 3' '5 4' '5 1' '3 3'
    vector x.mtx 1 10 100 1000 10000
    gives "pattern, symmetric" '10010 101 1110 10100 1001' a.mtx -x x.mtx

    # entries in any order; the same place several times; a row without entries
    file a.mtx 'coordinate real general' '4 3 7' '4 1 -2' '1 1 1' '3 2 0.5' '1 1 2' \
        '2 3 -4' '3 2 0.25' '2 3 4'
    gives "places given twice" '3 0 0.75 -2' a.mtx
    check "entries on $RUBUS_BACKEND" "$rubus" spmv a.mtx --json
    says "entries on $RUBUS_BACKEND" '"entries": 4,' out

    # 3 x 5: transposed, x has 3 elements and y has 5
    file a.mtx 'coordinate real general' '3 5 6' '1 5 0.5' '3 1 2' '3 3 -1' '1 1 4' \
        '2 4 3' '2 1 1'
    vector x.mtx 2 -1 10
    gives "transposed" '27 0 -10 -3 1' a.mtx -x x.mtx --transpose
    vector y.mtx 1 2 3 4 5
    mv y.mtx y0.mtx
    gives "alpha and beta" '57 6 -11 6 17' a.mtx -x x.mtx -y y0.mtx --transpose \
        --alpha 2 --beta 3
    vector long.mtx 1 2 3 4 5
    fails "long x on $RUBUS_BACKEND" 3 "$rubus" spmv a.mtx -x long.mtx --transpose
    says "long x on $RUBUS_BACKEND" 'long\.mtx has 5 rows, 3 needed' err
    fails "short x on $RUBUS_BACKEND" 3 "$rubus" spmv a.mtx -x x.mtx
    says "short x on $RUBUS_BACKEND" 'x\.mtx has 3 rows, 5 needed' err

    # beta 0: what y holds is not read
    file a.mtx 'coordinate real general' '3 3 4' '1 1 2' '1 3 1' '2 2 -3' '3 1 5'
    vector x.mtx 1 2 3
    vector y0.mtx nan inf -inf
    gives "beta 0" '5 -6 5' a.mtx -x x.mtx -y y0.mtx --beta 0
    gives "beta 0, transposed" '17 -6 1' a.mtx -x x.mtx -y y0.mtx --transpose

    # no entries, no rows, no columns
    vector y0.mtx 7 7 7
    file a.mtx 'coordinate real general' '3 2 0'
    gives "no entries" '0 0 0' a.mtx -y y0.mtx
    gives "no entries, beta" '14 14 14' a.mtx -y y0.mtx --beta 2
    file a.mtx 'coordinate real general' '3 0 0'
    file x.mtx 'array real general' '0 1'
    gives "no columns" '0 0 0' a.mtx -x x.mtx -y y0.mtx
    gives "no columns, beta" '14 14 14' a.mtx -x x.mtx -y y0.mtx --beta 2
    file a.mtx 'coordinate real general' '0 4 0'
    gives "no rows" '' a.mtx

    # several columns
    file a.mtx 'coordinate real general' '3 4 5' '1 1 1' '1 3 2' '2 2 -1' '3 1 4' '3 4 3'
    file x.mtx 'array real general' '4 2' 1 3 5 7 2 4 6 8
    check "two columns on $RUBUS_BACKEND" "$rubus" spmv a.mtx -x x.mtx
    same "two columns on $RUBUS_BACKEND" "$(tr '\t\n' ' ,' <out)" '11 14,-3 -4,25 32,'
    file y0.mtx 'array real general' '3 2' 1 1 1 1 1 1
    check "two columns and y on $RUBUS_BACKEND" "$rubus" spmv a.mtx -x x.mtx -y y0.mtx \
        --beta 10 -o y.mtx
    same "two columns and y on $RUBUS_BACKEND" "$(result)" '21 7 35 24 6 42'
    rm -f y.mtx
    vector y0.mtx 1 1 1
    fails "too few columns on $RUBUS_BACKEND" 3 "$rubus" spmv a.mtx -x x.mtx -y y0.mtx
    says "too few columns on $RUBUS_BACKEND" 'y0\.mtx has 1 column, 2 needed' err
done
unset RUBUS_BACKEND

# One row with as many entries as there are columns.
awk 'BEGIN { n = 20000
    printf "%%%%MatrixMarket matrix coordinate integer general\n%d %d %d\n", n, n, 2 * n - 1
    for (j = 1; j <= n; j++) print 1, j, 1
    for (i = 2; i <= n; i++) print i, i, 1 }' >a.mtx
awk 'BEGIN { print "%%MatrixMarket matrix array real general\n20000 1"
    for (i = 1; i <= 20000; i++) print i }' >x.mtx
check "one long row" "$rubus" spmv a.mtx -x x.mtx -o y.mtx
same "one long row" "$(sed -n '3p;4p;$p' y.mtx | paste -sd ' ')" '200010000 2 20000'
rm -f y.mtx

# Compressed, by any name, and back.
file a.mtx 'coordinate real general' '2 2 3' '1 1 3' '2 1 4' '2 2 1'
gzip -c a.mtx >b.mtx
check "gzip" "$rubus" spmv b.mtx -o y.mtx.gz
same "gzip" "$(gzip -dc y.mtx.gz | sed 1,2d | paste -sd ' ')" '3 5'
head -c 40 b.mtx >c.mtx
fails "gzip cut short" 3 "$rubus" spmv c.mtx
says "gzip cut short" 'c\.mtx: the gzip data end too early' err
lacks "gzip cut short" '[^ -~]' err

# What is refused says where, and leaves nothing.
refused() { # PATTERN LINE...: a file of these lines
    local pattern=$1
    shift
    printf '%s\n' "$@" >bad.mtx
    fails "refused: $pattern" 3 "$rubus" spmv bad.mtx -o y.mtx
    says "refused: $pattern" "^rubus: bad\\.mtx:$pattern" err
    checks=$((checks + 1))
    [ ! -e y.mtx ] || note_failure "refused: $pattern" "y.mtx was left"
}
banner='%%MatrixMarket matrix coordinate real general'
refused '1: no %%MatrixMarket banner.*3 3 1' '3 3 1' '1 1 1'
refused '1: .*%MatrixMarket' "${banner#%}" '3 3 0'
refused "1: .*'vector' where 'matrix'" '%%MatrixMarket vector coordinate real general' '4 0'
refused '1: .*complex' '%%MatrixMarket matrix coordinate complex general' '1 1 1' '1 1 1 0'
refused '2: .*square.* 3 x 4' "${banner%general}symmetric" '3 4 1' '2 1 5'
refused '3: 1099511627776 rows' "$banner" % '1099511627776 1099511627776 1' '1 1 1'
refused '4: row 0 is not in 1\.\.3' "$banner" '3 3 2' '1 1 1' '0 1 1'
refused '4: .*\(2,2\) = 5' "${banner%general}skew-symmetric" '3 3 2' '2 1 4' '2 2 5'
refused '5: only 3 of the 5 entries' "$banner" '4 4 5' '1 1 1' '2 2 2' '3 3 3'
refused '4: only 2 of the 4000000000 entries' "$banner" '9 9 4000000000' '1 1 1' '2 2 1'

# More row pointers than there is memory, or than the device takes.
printf '%s\n' "$banner" '1000000000000000000 3 1' '1 1 1' >bad.mtx
"$rubus" spmv bad.mtx --index i64 >out 2>err
status=$?
checks=$((checks + 1))
[ $status -eq 3 ] || [ $status -eq 4 ] || note_failure "many rows" "status $status"
says "many rows" '^rubus: bad\.mtx: .*[0-9]+ bytes' err

# A value too large for the type is infinite, and said to be.
file a.mtx 'coordinate real general' '2 1 2' '1 1 1e300' '2 1 1e-300'
check "infinite" "$rubus" spmv a.mtx --real f32
same "infinite" "$(result)" 'inf 0'
says "infinite" '^rubus: a\.mtx: 1 value is too large for f32' err

# The command line.
fails "no file" 2 "$rubus" spmv
fails "two files" 2 "$rubus" spmv a.mtx a.mtx
fails "beta without y" 2 "$rubus" spmv a.mtx --beta 1
fails "alpha" 2 "$rubus" spmv a.mtx --alpha one
fails "ending" 2 "$rubus" spmv a.mtx -o y.png
fails "missing" 3 "$rubus" spmv none.mtx
says "missing" 'none\.mtx' err
fails "folder" 3 "$rubus" spmv .
fails "x is a pipe" 3 "$rubus" spmv a.mtx -x <(:)
file x.mtx 'coordinate real general' '1 1000000000000 1' '1 1 1'
fails "many columns" 3 "$rubus" spmv a.mtx -x x.mtx
says "many columns" '1000000000000 columns, but only 1 entries' err
check "verbose" "$rubus" spmv a.mtx -v
says "verbose" '^rubus: a\.mtx: 2 x 1, 2 entries, f64 i32' err
says "verbose" '^rubus: [1-9][0-9]* bytes a product, 0 beside.*, inspected in [0-9.]+ ms$' err
check "verbose, transposed" "$rubus" spmv a.mtx -v --transpose
lacks "verbose, transposed" 'a product' err
# A line of 1000 points.
{
    echo '%%MatrixMarket matrix coordinate real symmetric'
    echo '1000 1000 1999'
    for ((i = 1; i < 1000; i++)); do
        echo "$i $i 2"
        echo "$((i + 1)) $i -1"
    done
    echo '1000 1000 2'
} >line.mtx
check "path" "$rubus" spmv line.mtx -v -b threads -o y.mtx
says "path" 'by stencil, 3 diagonals$' err
says "path" 'a product, [1-9][0-9]* beside the matrix' err
check "path in JSON" "$rubus" spmv line.mtx --json -b threads -o y.mtx
says "path in JSON" '"path": "stencil, 3 diagonals"' out
says "path in JSON" '"product_bytes": [1-9]' out
says "path in JSON" '"path_bytes": [1-9]' out
says "path in JSON" '"inspect_ms": [0-9.]+' out

# --- bench ------------------------------------------------------------------------------
number='[0-9]+\.[0-9]+'
for spec in threads reference; do
    check "bench spmv on $spec" "$rubus" bench spmv --n 32 --rounds 2 --real f64 -b "$spec"
    for name in grid2d grid3d random dense_row power small; do
        says "bench spmv on $spec: $name" \
            "^$name +f64 +1 vector +$number ms +$number GB/s +$number of triad +$number times plain CSR  [a-z]" out
    done
    says "bench spmv on $spec: triad" "^triad $number GB/s$" out
done
check "bench spmv in JSON" "$rubus" bench spmv --n 100 --rounds 1 --json -b threads
says "bench spmv in JSON" "\"triad_gbs\": $number" out
says "bench spmv in JSON" '"path": "stencil, 5 diagonals"' out
count() { grep -o -- "$1" out | wc -l; }
same "both types" "$(count '"vs_csr"') $(count '"f32"')" '12 6'
check "bench spmm in JSON" "$rubus" bench spmm --n 16 --rounds 1 --json --real f32 -b threads
for word in '"k": 4' '"k": 8' '"layout": "rows"' '"layout": "columns"'; do
    same "$word" "$(count "$word")" 12
done
for spec in threads reference; do
    check "bench assemble on $spec" "$rubus" bench assemble --n 32 --rounds 2 --real f64 -b "$spec"
    for problem in 2d 3d; do
        for name in 'fill rows' 'fill scatter' 'fill gather' 'fill host' 'fill search' \
            'fill stencil'; do
            says "bench assemble on $spec: $problem $name" \
                "^$problem f64 +$name +$number ms +$number GB/s +$number of copy +$number times rows$" out
        done
        for name in apply 'stencil product' 'CSR product'; do
            says "bench assemble on $spec: $problem $name" \
                "^$problem f64 +$name +$number ms +$number GB/s +$number of copy +$number times apply$" out
        done
    done
    says "bench assemble on $spec: copy" "^copy $number GB/s$" out
done
name="test_trap_26_bench_assemble_tells_what_it_measured"
check "$name" "$rubus" bench assemble --n 171 --rounds 1 --json -b threads
says "$name" "\"copy_gbs\": $number" out
same "$name: types, sizes" "$(count '"f32"') $(count '"points": 1681') $(count '"points": 64')" \
    '18 18 18'
same "$name: times" "$(count '"vs_rows"') $(count '"vs_apply"') $(count '"over_copy"')" '24 12 36'
fails "bench spmv with an operand" 2 "$rubus" bench spmv a.mtx
says "bench spmv with an operand" "unexpected argument 'a.mtx'" err
finish
