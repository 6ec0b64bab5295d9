# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Command lines that are wrong, cases that are wrong, and what --json and -o promise.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
cd "$work" || exit 99
export RUBUS_BACKEND=reference

# --- usage ------------------------------------------------------------------------------
usage() { # NAME PATTERN ARGUMENTS...
    local name=$1 pattern=$2
    shift 2
    fails "$name" 2 "$rubus" "$@"
    says "$name" "$pattern" err
}
usage "no command" 'a command is missing'
usage "unknown command" "no command 'solv'" solv
usage "unknown option" 'unknown option --frob' --frob
usage "unknown long option" 'solve: .*--frob' solve --frob
usage "unknown letter" 'solve: unknown option -q' solve -q
usage "value missing" 'run: option --case needs a value' run k.rk --case
usage "value of a short form" 'option --check \(short for --checkpoint\) needs a value' \
    solve --nx 8 --check
usage "value of a flag" 'devices: option --json takes no value' devices --json=3
usage "operand of devices" "unexpected argument 'x'" devices x
usage "no file" 'expected one kernel file' run --case k.json
usage "no case" '--case is missing' run k.rk
usage "bad real" "--real: 'f16' is none of f32, f64" run k.rk --case k.json --real f16
usage "kernel what" "'frob' is none of" kernel frob k.rk
usage "emit without dialect" 'needs --dialect' kernel emit k.rk
usage "dialect of check" '--dialect belongs to emit' kernel check k.rk --dialect c
usage "no nx" '--nx is missing' solve
usage "nx in 1e3" "--nx: '1e3' is not a whole number" solve --nx 1e3
usage "nx 0" '--nx: 0 is less than 1' solve --nx 0
usage "tol" "--tol: 'small' is not a finite number" solve --nx 8 --tol small
usage "tol nan" "--tol: 'nan' is not a finite number" solve --nx 8 --tol nan
usage "negative tol" '--tol: -1 is negative' solve --nx 8 --tol -1
usage "length 0" '--lx: 0 is not positive' solve --nx 8 --lx 0
usage "comma" "--lx: '1,5' is not" solve --nx 8 --lx 1,5
usage "dim 4" '--dim: 4' solve --dim 4 --nx 8
usage "ny in 1D" '--ny needs --dim 2' solve --dim 1 --nx 8 --ny 8
usage "profile z in 2D" '--profile z needs --dim 3' solve --nx 8 --profile z
usage "two lambdas" 'exclude each other' solve --nx 8 --lambda a --lambda-const 1
usage "bench with tol" '--tol does not go with --bench' solve --nx 8 --bench --tol 1e-3
usage "bench with history" '--history does not go with --bench' \
    solve --nx 8 --bench --history h.csv
usage "bench what" "'frob' is none of" bench frob
usage "bench kernels" "'none' is none of math, index, fused" bench dr --kernels none
usage "bench of sparse matrices too large" '--n: 40000 is too large: .* 32768' \
    bench spmv --n 40000
usage "bench of assembly too large" '--n: 40000 is too large: .* 32768' \
    bench assemble --n 40000
usage "rounds 0" '--rounds: 0 is less than 1' bench launch --rounds 0

for command in '' devices solve run form kernel bench conformance; do
    # shellcheck disable=SC2086 # '' is no argument
    check "help $command" "$rubus" $command --help
    says "help $command" '^Usage: rubus ' out
done
check "version" "$rubus" --version
says "version" '^rubus [0-9]+\.[0-9]+\.[0-9]+ ' out
# shellcheck disable=SC2016 # $0 is of the inner shell
fails "full disk" 3 bash -c '"$0" --help >/dev/full' "$rubus"

# --- cases ------------------------------------------------------------------------------
cat >k.rk <<'END'
kernel k(inout real u[n], real s) { u = u * s; }
kernel norm(in real u[n], out real big, out real total) { big = max(abs(u)); total = sum(u); }
END
# Only regular files are read, and a FIFO that nobody writes to is not waited for.
mkfifo pipe.json pipe.rk
mkdir folder.json
echo '{"launch": []}' >empty.json
for path in pipe.json:FIFO folder.json:folder /dev/null:device; do
    fails "case in ${path%:*}" 3 timeout 20 "$rubus" run k.rk --case "${path%:*}"
    says "case in ${path%:*}" "'${path%:*}': it is a ${path#*:}.*not a regular file" err
done
for path in no.json -; do
    fails "case in $path" 3 "$rubus" run k.rk --case "$path"
    says "case in $path" "cannot read '$path': No such file" err
done
fails "kernels in a FIFO" 3 timeout 20 "$rubus" run pipe.rk --case empty.json
says "kernels in a FIFO" "'pipe.rk': it is a FIFO, not a regular file" err
bad_case() { # NAME PATTERN JSON
    printf '%s\n' "$3" >bad.json
    fails "$1" 3 "$rubus" run k.rk --case bad.json
    says "$1" "^rubus: bad\\.json.*$2" err
}
bad_case "no JSON" ':[0-9]+:[0-9]+: ' '{"arrays": '
bad_case "no object" 'no JSON object' '[]'
bad_case "unknown member" '"array"' '{"array": {}, "launch": []}'
bad_case "no launch" '"launch"' '{"arrays": {}}'
bad_case "real" '"real" must be' '{"real": "f16", "launch": []}'
bad_case "twice" 'u' '{"arrays": {"u": {"shape": [1]}, "u": {"shape": [1]}}, "launch": []}'
bad_case "no shape" '"u".*"shape"' '{"arrays": {"u": {}}, "launch": []}'
bad_case "rank 5" '"u".*1 to 4' '{"arrays": {"u": {"shape": [1, 1, 1, 1, 1]}}, "launch": []}'
bad_case "negative size" '"u"' '{"arrays": {"u": {"shape": [-1]}}, "launch": []}'
bad_case "huge" '"u".*larger' \
    '{"arrays": {"u": {"shape": [4000000000, 4000000000]}}, "launch": []}'
bad_case "count" '"u".*holds 3 numbers, "data" 2' \
    '{"arrays": {"u": {"shape": [3], "data": [1, 2]}}, "launch": []}'
bad_case "element" '"u": element 1' \
    '{"arrays": {"u": {"shape": [2], "data": [1, "x"]}}, "launch": []}'
bad_case "index element" '"u": element 0.*i32' \
    '{"arrays": {"u": {"type": "index", "shape": [1], "data": [3000000000]}}, "launch": []}'
for number in 1e300 -1e39 3.4028236e38; do
    bad_case "f32 element $number" '"u": element 1 is no number of type f32' \
        '{"real": "f32", "arrays": {"u": {"shape": [2], "data": [1, '$number']}}, "launch": []}'
    bad_case "f32 fill $number" '"u": element 0 is no number of type f32' \
        '{"real": "f32", "arrays": {"u": {"shape": [2], "fill": '$number'}}, "launch": []}'
    bad_case "f32 scalar $number" 'parameter s is .*, which f32 cannot hold' \
        '{"real": "f32", "arrays": {"u": {"shape": [2]}}, "launch": [["k", "u", '$number']]}'
done
bad_case "data and fill" 'both' \
    '{"arrays": {"u": {"shape": [1], "data": [1], "fill": 1}}, "launch": []}'
bad_case "scalar" '"s" is no number' '{"scalars": {"s": "one"}, "launch": []}'
bad_case "range" 'range number 1' '{"launch": [{"kernel": "k", "args": [], "range": [[1]]}]}'
bad_case "range of a whole-array kernel" 'a whole-array kernel takes no range' \
    '{"arrays": {"u": {"shape": [2]}}, "launch": [{"kernel": "k", "args": ["u", 2],
      "range": [[0, 1]]}]}'
bad_case "too few arguments" '1 argument given, 2 needed' \
    '{"arrays": {"u": {"shape": [2]}}, "launch": [["k", "u"]]}'
bad_case "print" '"v"' \
    '{"arrays": {"u": {"shape": [2]}}, "launch": [["k", "u", 2]], "print": ["v"]}'
fails "no such case" 3 "$rubus" run k.rk --case none.json
says "no such case" 'none\.json' err
echo '{"launch": []}' >empty.json
fails "no such kernel file" 3 "$rubus" run none.rk --case empty.json
says "no such kernel file" 'none\.rk' err
check "nothing to do" "$rubus" run k.rk --case empty.json
same "nothing to do" "$(wc -c <out)" 0

# --- output -----------------------------------------------------------------------------
echo '{"arrays": {"u": {"shape": [2, 2], "data": [1, 0.1, "nan", "-inf"]}, "w": {"shape": [1], "fill": 3}},
 "scalars": {"two": 2}, "launch": [["k2", "u", "two"], ["norm", "w", "big", "total"]]}' >k.json
sed -i '1i kernel k2(inout real u[n,m], real s) { u = u * s; }' k.rk
check "text" "$rubus" run k.rk --case k.json
same "text" "$(cat out)" $'u: 2 0.20000000000000001 nan -inf\nbig: 3\ntotal: 3'
check "f32 text" "$rubus" run k.rk --case k.json --real f32
same "f32 text" "$(head -n 1 out)" 'u: 2 0.200000003 nan -inf'
check "to a file" "$rubus" run k.rk --case k.json -o 'my results'
same "to a file" "$(head -n 1 'my results')" 'u: 2 0.20000000000000001 nan -inf'
same "nothing on stdout" "$(wc -c <out)" 0
check "to a device" "$rubus" run k.rk --case k.json -o /dev/null
fails "to no folder" 3 "$rubus" run k.rk --case k.json -o no/such
check "json" "$rubus" run k.rk --case k.json --json
same "json" "$(tr -d ' \n' <out)" '{"u":[2.0,0.20000000000000001,"nan","-inf"],"big":3.0,"total":3.0}'
fails "two arrays for one file" 3 "$rubus" run k.rk --case empty.json -o u.vtk
check "vtk" "$rubus" run k.rk --case k.json -o u.vtk
says "vtk" '^# vtk DataFile Version 3\.0$' u.vtk
for values in '5, 5, 5, 5' '1, "nan", 3, 4' '"nan", "nan", "nan", "nan"' \
    '1, "inf", "-inf", 2' '1e-310, 2e-310, 0, 0' '1e308, -1e308, 0, 0'; do
    echo '{"arrays": {"u": {"shape": [2, 2], "data": ['"$values"']}},
        "launch": [["k2", "u", 1]]}' >picture.json
    check "picture of $values" "$rubus" run k.rk --case picture.json -o p.png
    same "picture of $values" "$(head -c 8 p.png | od -An -tx1 | tr -d ' \n')" \
        89504e470d0a1a0a
    says "picture of $values: whole" 'IEND' <(tail -c 12 p.png | tr -cd '[:upper:]')
done
finish
