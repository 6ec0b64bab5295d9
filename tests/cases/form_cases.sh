# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# `rubus form` against closed forms and matrices worked out by hand, on every backend; then
# what its case may not say, and what its files hold.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
cd "$work" || exit 99

cat >forms.rk <<'END'
func real one(real x) { return 1; }
func real parabola(real x) { return x * x; }
func real exact1(real x) { return exp(x); }
func real source1(real x) { return -1.1 * exp(x); }
func real source0(real x) { return -exp(x); }
func real exact3(real x, real y, real z) { return exp(x + y + z); }
func real source3(real x, real y, real z) { return -3 * exp(x + y + z); }
func real exact2(real x, real y) { return exp(x + 2 * y); }
func real source2(real x, real y) { return -5 * exp(x + 2 * y); }
func real robin(real x, real y) { return cos(2.2 * x) * exp(0.7 * y); }
func real robin_source(real x, real y) { return (2.2^2 - 0.7^2 + 1) * robin(x, y); }
func real g_left(real x, real y) { return 1.7 * robin(x, y); }
func real g_right(real x, real y) { return -2.2 * sin(2.2 * x) * exp(0.7 * y) + 1.7 * robin(x, y); }
func real g_bottom(real x, real y) { return -0.7 * robin(x, y) + 1.7 * robin(x, y); }
func real g_top(real x, real y) { return 0.7 * robin(x, y) + 1.7 * robin(x, y); }
func real moving(real x, real t) { return x + 10 * t; }
func real each(real x, int component) { return x + 10 * component; }
func bool middle(real x, real t) { return x > 0.4 && x < t; }

form mass(trial u, test v) = inner_h(u, v);
form stiffness(trial u, test v) = inner_plus(grad(u), grad(v));
form diffusion(trial u, test v, field kappa) = inner_plus(Mm(kappa) * grad(u), grad(v));
form convection(trial u, test v, real eps, real b) =
    eps * inner_plus(grad(u), grad(v)) + b * inner_plus(Mm(u), grad(v));
form robin_matrix(trial u, test v, real beta) =
    inner_plus(grad(u), grad(v)) + inner_h(u, v) + beta * inner_Gamma(u, v);
form robin_vector(test v, field f, field left, field right, field bottom, field top) =
    inner_h(f, v) + inner_Gamma(left, v, "left") + inner_Gamma(right, v, "right")
    + inner_Gamma(bottom, v, "bottom") + inner_Gamma(top, v, "top");
form composite(trial u, test v) =
    2 * inner_h(u[0], v[1]) + inner_plus(grad(u[1]), grad(v[0]));
form line(trial u, test v, field a[x], int k) = k * inner_h(a * u, v);
form load(test v, field f) = inner_h(f, v);
END

json() { # MEMBER of the object in out
    grep -o "\"$1\": [^,}]*" out | cut -d ' ' -f 2-
}
form() { # NAME ARGUMENT...: runs the case at stdin
    local name="$1 on $RUBUS_BACKEND"
    shift
    cat >case.json
    check "$name" "$rubus" form forms.rk --case case.json "$@"
}
# gives NAME WANT: the values of the case at stdin
gives() {
    local name=$1 want=$2
    form "$name"
    same "$name on $RUBUS_BACKEND" "$(sed -n 's/^values: //p' out)" "$want"
}
line_mesh='"mesh": {"axes": [{"points": [0, 1, 3, 5]}]}'
unit_mesh='"mesh": {"axes": [{"n": 5, "interval": [0, 1]}]}'

for RUBUS_BACKEND in reference threads:threads=1 threads:threads=3 $vulkan_specs; do
    export RUBUS_BACKEND

    # Poisson, u = exp(x + 2 y): the error in the norm of order 1.
    for pair in 5:1.1393640066e-2 9:4.2664605240e-3 17:1.2844531272e-3; do
        n=${pair%:*}
        for stored in none stencil csr; do
            form "Poisson $n $stored" --json <<END
{"mesh": {"axes": [{"n": $n, "interval": [0, 1]}, {"n": $((n + 1)), "interval": [0, 1]}]},
 "matrix": "diffusion", "vector": "load", "rtol": 1e-13, "stored": "$stored",
 "set": {"kappa": 1, "f": {"func": "source2", "how": "mean"}},
 "dirichlet": [{"labels": "boundary", "value": {"func": "exact2"}}],
 "exact": {"func": "exact2"}}
END
            name="Poisson $n $stored on $RUBUS_BACKEND"
            close_to "$name: norm_1h" "$(json norm_1h)" "${pair#*:}" 1e-11
            same "$name: outcome" "$(json outcome) $(json converged) $(json solver)" \
                '"converged" true "cg"'
        done
    done

    # Random points; three dimensions.
    form "random points" --json <<END
{"mesh": {"axes": [{"n": 20, "interval": [0, 1], "seed": 12345}]},
 "matrix": "stiffness", "vector": "load", "rtol": 1e-13,
 "set": {"f": {"func": "source0", "how": "mean"}},
 "dirichlet": [{"labels": "boundary", "value": {"func": "exact1"}}],
 "exact": {"func": "exact1"}}
END
    close_to "random points on $RUBUS_BACKEND" "$(json norm_1h)" 1.8638649446e-3 1e-11
    form "box" --json <<END
{"mesh": {"axes": [{"n": 3, "interval": [0, 1]}, {"n": 4, "interval": [0, 1]},
                   {"n": 5, "interval": [0, 1]}]},
 "matrix": "stiffness", "vector": "load", "rtol": 1e-13,
 "set": {"f": {"func": "source3", "how": "mean"}},
 "dirichlet": [{"labels": "boundary", "value": {"func": "exact3"}}],
 "exact": {"func": "exact3"}}
END
    close_to "box on $RUBUS_BACKEND" "$(json norm_1h)" 8.2661973539e-3 1e-11
    same "box on $RUBUS_BACKEND: points" "$(json unknowns)" 60

    # Convection and diffusion: not symmetric, so by BiCGStab.
    form "convection" --json <<END
{$unit_mesh, "matrix": "convection", "vector": "load", "rtol": 1e-13,
 "set": {"eps": 1, "b": 0.1, "f": {"func": "source1", "how": "mean"}},
 "dirichlet": [{"labels": "boundary", "value": {"func": "exact1"}}],
 "exact": {"func": "exact1"}}
END
    close_to "convection on $RUBUS_BACKEND" "$(json norm_1h)" 1.6872832363e-3 1e-11
    same "convection on $RUBUS_BACKEND: solver" "$(json solver)" '"bicgstab"'

    # A condition of the third kind on every face, each with its own right side.
    form "Robin" --json <<END
{"mesh": {"axes": [{"n": 9, "interval": [0, 1]}, {"n": 9, "interval": [0, 1]}]},
 "matrix": "robin_matrix", "vector": "robin_vector", "rtol": 1e-13,
 "set": {"beta": 1.7, "f": {"func": "robin_source"}, "left": {"func": "g_left"},
         "right": {"func": "g_right"}, "bottom": {"func": "g_bottom"},
         "top": {"func": "g_top"}},
 "exact": {"func": "robin"}}
END
    close_to "Robin on $RUBUS_BACKEND: norm_1h" "$(json norm_1h)" 1.3000337919e-2 1e-11
    close_to "Robin on $RUBUS_BACKEND: norm_h" "$(json norm_h)" 3.6390565410e-3 1e-11

    # -u" = 2, in two components with other values at the ends: 2 x (1 - x) / 2 + linear
    form "components" -o u.txt <<END
{$unit_mesh, "components": 2, "matrix": "stiffness", "vector": "load", "rtol": 1e-14,
 "set": {"f": 2},
 "dirichlet": [{"labels": "boundary", "value": 0},
               {"labels": "left", "component": 1, "value": 3},
               {"labels": "right", "component": 1, "value": [9, 9, 9, 9, -1]}]}
END
    same "components on $RUBUS_BACKEND" "$(grep -v '^#' u.txt |
        awk '{ printf " %.9g", $1 }')" \
        ' 0 0.1875 0.25 0.1875 0 3 2.1875 1.25 0.1875 -1'

    # Rows of the stiffness are (1 -1), (-1 1.5 -0.5), (-0.5 1 -0.5), (-0.5 0.5).
    gives "apply" '-1 0 -1 2' <<END
{$line_mesh, "do": "apply", "matrix": "stiffness", "x": [1, 2, 4, 8]}
END
    gives "apply, f32" '-1 0 -1 2' <<END
{$line_mesh, "real": "f32", "do": "apply", "matrix": "stiffness", "x": [1, 2, 4, 8]}
END
    gives "apply, stored" '-1 0 -1 2' <<END
{$line_mesh, "do": "apply", "matrix": "stiffness", "stored": "stencil", "x": [1, 2, 4, 8]}
END
    gives "apply, constrained" '1 0 -1 8' <<END
{$line_mesh, "do": "apply", "matrix": "stiffness", "x": [1, 2, 4, 8],
 "dirichlet": [{"labels": "left,right", "value": 7}]}
END
    gives "apply, composite" '-1 0.5 0.5 1 6 6' <<END
{"mesh": {"axes": [{"points": [0, 1, 3]}]}, "components": 2,
 "do": "apply", "matrix": "composite", "x": [1, 2, 3, 4, 5, 6]}
END
    # k a u w, w = (0.5, 1.5, 2, 1)
    gives "field of an axis" '3 18 36 24' <<END
{$line_mesh, "do": "apply", "matrix": "line", "x": 2,
 "set": {"k": 3, "a": {"axis": "x", "values": [1, 2, 3, 4]}}}
END
    gives "field of an axis, a number" '1 3 4 2' <<END
{$line_mesh, "do": "apply", "matrix": "line", "x": 1, "set": {"k": 1, "a": 2}}
END
    gives "vector" '0 1.5 18 25' <<END
{$line_mesh, "do": "vector", "vector": "load", "set": {"f": {"func": "parabola"}}}
END
    # means over the cells of x^2, times the cells
    form "vector of means" <<END
{$line_mesh, "do": "vector", "vector": "load",
 "set": {"f": {"func": "parabola", "how": "mean"}}}
END
    # cells end at 0, 0.5, 2, 4, 5: differences of x^3 / 3
    same "vector of means on $RUBUS_BACKEND" \
        "$(sed -n 's/^values: //p' out | tr ' ' '\n' | awk '{ printf " %.10g", $1 }')" \
        ' 0.04166666667 2.625 18.66666667 20.33333333'
    gives "vector, constrained" '0 1.5 18 -2' <<END
{$line_mesh, "do": "vector", "vector": "load", "set": {"f": {"func": "parabola"}},
 "dirichlet": [{"labels": "boundary", "value": 9}, {"labels": "left", "value": 0},
               {"labels": "right", "value": -2}]}
END
    # -u" = 2 with u = 3 and -1 at the ends: the known values on the right side
    gives "vector, symmetrised" '3 12.5 0.5 -3.5 -1' <<END
{$unit_mesh, "do": "vector", "vector": "load", "matrix": "stiffness", "symmetrise": true,
 "set": {"f": 2}, "dirichlet": [{"labels": "left", "value": 3},
                                {"labels": "right", "value": -1}]}
END
    gives "vector, not symmetrised" '3 0.5 0.5 0.5 -1' <<END
{$unit_mesh, "do": "vector", "vector": "load", "matrix": "stiffness", "symmetrise": false,
 "set": {"f": 2}, "dirichlet": [{"labels": "left", "value": 3},
                                {"labels": "right", "value": -1}]}
END
    form "assemble, symmetrised" -o a.mtx <<END
{$unit_mesh, "do": "assemble", "matrix": "stiffness", "symmetrise": true,
 "dirichlet": [{"labels": "boundary", "value": 0}]}
END
    says "assemble, symmetrised on $RUBUS_BACKEND" '^matrix: 5 rows, [0-9]+ entries$' out
    same "assemble, symmetrised on $RUBUS_BACKEND" \
        "$(awk 'NR > 2 && $3 != 0 { printf "%s,%s:%s ", $1, $2, $3 }' a.mtx)" \
        '1,1:1 2,2:8 2,3:-4 3,2:-4 3,3:8 3,4:-4 4,3:-4 4,4:8 5,5:1 '
    gives "time and components" '20 22 24 30 32 34' <<END
{"mesh": {"axes": [{"points": [0, 2, 4]}]}, "components": 2,
 "do": "vector", "vector": "load", "set": {"f": 0},
 "dirichlet": [{"labels": "boundary,interior", "value": [1, 2, 3]},
               {"labels": "interior,left", "component": 0,
                "value": {"func": "moving", "time": 2}},
               {"labels": "right", "component": 0, "value": 24},
               {"labels": "boundary,interior", "component": 1, "value": [30, 32, 34]}]}
END
    gives "a func of the component" '0 1 10 11' <<END
{"mesh": {"axes": [{"points": [0, 1]}]}, "components": 2,
 "do": "vector", "vector": "load", "set": {"f": 0},
 "dirichlet": [{"labels": "boundary", "value": {"func": "each"}}]}
END
    # marks are evaluated again when the mesh is refined: points 0, 0.25, 0.5, 0.75, 1
    gives "marks" '7 0.25 8 8 7' <<END
{"mesh": {"axes": [{"n": 3, "interval": [0, 1]}], "time": 0.9, "refine": 1,
          "marks": {"wall": "left,xmax", "inside": {"func": "middle"}}},
 "do": "vector", "vector": "load", "set": {"f": {"func": "one"}},
 "dirichlet": [{"labels": "wall", "value": 7}, {"labels": "inside", "value": 8}]}
END

    # a(u, v) = v'S u with u = x^2: S u = (-1, -3, -4, 8)
    for pair in '"matrix": "stiffness", "x": {"func": "parabola"}:1' \
        '"vector": "load", "set": {"f": {"func": "parabola"}}:-16.5'; do
        form "value ${pair##*:}" <<END
{$line_mesh, "do": "value", ${pair%:*}, "y": [0, 1, -1, 0]}
END
        says "value on $RUBUS_BACKEND" "^value: ${pair##*:}\$" out
    done

    # The matrix in a file multiplies as the form does.
    form "assemble" -o a.mtx --json <<END
{"mesh": {"axes": [{"n": 4, "interval": [0, 3]}, {"n": 5, "interval": [0, 2], "seed": 3}]},
 "do": "assemble", "matrix": "diffusion", "set": {"kappa": {"func": "exact2"}},
 "dirichlet": [{"labels": "left", "value": 1}], "x": [$(seq -s, 1 20)]}
END
    # each point, and both ends of 3 x 5 intervals along x and 4 x 4 along y
    same "assemble on $RUBUS_BACKEND" \
        "$(json rows) $(json columns) $(json entries)" '20 20 82'
    check "product on $RUBUS_BACKEND" "$rubus" form forms.rk --case case.json --do apply \
        -o y.mtx
    { echo '%%MatrixMarket matrix array real general' && echo 20 1 && seq 20; } >x.mtx
    check "product of the file on $RUBUS_BACKEND" "$rubus" spmv a.mtx -x x.mtx
    worst=$(sed 1,2d y.mtx | paste - out | awk '
        { d = $1 - $2; if (d < 0) d = -d; if (d > worst) worst = d
          s = $1 < 0 ? -$1 : $1; if (s > size) size = s }
        END { print (NR == 20 && size > 100 ? worst / size : 9) }')
    close_to "product of both on $RUBUS_BACKEND" "$worst" 0 1e-15
done

# --- outcomes and files ------------------------------------------------------------------
export RUBUS_BACKEND=threads
poisson=("$rubus" form "$source_dir/examples/forms/poisson.rk"
    --case "$source_dir/examples/forms/poisson.json")
check "the example" "${poisson[@]}"
says "the example" '^2D, 65 x 66 points, 1 component, f64$' out
says "the example" '^backend threads, ' out
says "the example" '^cg, stored: none$' out
says "the example" '^converged after [0-9]+ iterations, \|r\| = [0-9.e-]+ <= [0-9.e-]+$' out
says "the example" '^error: norm_h [0-9.e-]+, norm_1h 9\.15546[0-9]*e-05, max [0-9.e-]+$' out
sed -n '/^## Without a program/,$s/^    \([ {"].*[],}]\)$/\1/p' "$source_dir/docs/forms.md" |
    sed '/}}$/q' >shown.json
check "the manual shows the example" diff -u shown.json \
    "$source_dir/examples/forms/poisson.json"
check "the example, verbose" "${poisson[@]}" -v --json
says "the example, verbose" '^rubus: backend threads ' err
same "the example in JSON" "$(json unknowns) $(json real) $(json "do") $(json components)" \
    '4290 "f64" "solve" 1'
check "in f32" "${poisson[@]}" --real f32 --json
same "in f32" "$(json real) $(json converged)" '"f32" true'
check "with bounds checks" "${poisson[@]}" --check

signature() { # FILE: its first bytes
    head -c "$2" "$1" | od -An -tx1 | tr -d ' \n'
}
for ending in vtr tsv txt bin png mtx mtx.gz; do
    check "to .$ending" "${poisson[@]}" -o "u.$ending"
done
same "picture" "$(signature u.png 8)" 89504e470d0a1a0a
same "numbers" "$(wc -c <u.bin)" $((8 * 65 * 66))
same "lines" "$(grep -vc '^#' u.txt)" 4290
same "table" "$(grep -v '^#' u.tsv | awk -F '\t' 'NF != 66 { bad = 1 } END { print NR, bad + 0 }')" \
    '65 0'
same "column" "$(sed -n 2p u.mtx) $(sed 1,2d u.mtx | wc -l)" '4290 1 4290'
same "column, compressed" "$(gzip -dc u.mtx.gz | cmp - u.mtx && echo same)" same
says "mesh" '<VTKFile type="RectilinearGrid"' u.vtr
says "mesh" 'Name="u"' u.vtr
says "mesh" 'Piece Extent="0 64 0 65 0 0"' u.vtr

# A coefficient that is no number is named, with the place.
cat >nan.rk <<'END'
func real hole(real x, real y) { return sqrt(x - 0.5) + y; }
form diffusion(trial u, test v, field kappa) = inner_plus(Mm(kappa) * grad(u), grad(v));
form load(test v) = inner_h(1, v);
END
cat >nan.json <<'END'
{"mesh": {"axes": [{"n": 5, "interval": [0, 1]}, {"n": 3, "interval": [0, 1]}]},
 "matrix": "diffusion", "vector": "load", "set": {"kappa": {"func": "hole"}},
 "dirichlet": [{"labels": "boundary", "value": 0}]}
END
"$rubus" form nan.rk --case nan.json >out 2>err
same "not a number: status" "$?" 1
says "not a number" '^rubus: not converged .*parameter "kappa" is -?nan at point \(0, 0\)' err

# What did not converge is written too, and says so.
sed 's/"matrix"/"niter": 3, "matrix"/' "$source_dir/examples/forms/poisson.json" >few.json
poisson_few=("$rubus" form "$source_dir/examples/forms/poisson.rk" --case few.json)
"${poisson_few[@]}" -o few.txt >out 2>err
same "3 iterations: status" "$?" 1
says "3 iterations" '^rubus: not converged \(limit\): 3 iterations, ' err
says "3 iterations: file" 'not converged \(limit\)' few.txt
"${poisson_few[@]}" --json >out 2>err
same "3 iterations in JSON: status" "$?" 1
same "3 iterations in JSON" "$(json outcome) $(json converged) $(json iterations)" \
    '"limit" false 3'
sed 's/"matrix"/"rtol": 0, "atol": 1e30, "matrix"/' \
    "$source_dir/examples/forms/poisson.json" >few.json
check "absolute tolerance" "${poisson_few[@]}" --json
same "absolute tolerance" "$(json converged) $(json iterations)" 'true 0'
sed 's/"matrix"/"x": {"func": "exact"}, "solver": "bicgstab", "matrix"/' \
    "$source_dir/examples/forms/poisson.json" >few.json
check "start value" "${poisson_few[@]}" --json
same "start value: solver" "$(json solver)" '"bicgstab"'

# --- the command line ----------------------------------------------------------------------
usage() { # NAME PATTERN ARGUMENT...
    local name=$1 pattern=$2
    shift 2
    fails "$name" 2 "$rubus" form "$@"
    says "$name" "$pattern" err
}
printf '{%s, "matrix": "stiffness", "vector": "load", "x": 1, "y": 1, "set": {"f": 0}}' \
    "$line_mesh" >plain.json
usage "no file" 'form: expected one file of forms, got 0' --case plain.json
usage "no case" 'form: --case is missing' forms.rk
usage "do" "--do: 'think' is none of solve, apply, assemble, vector, value" forms.rk \
    --case plain.json --do think
usage "ending" '-o u\.vti: the name must end in \.vtr' forms.rk --case plain.json -o u.vti
usage "ending of a matrix" '-o a\.vtr: a matrix goes to \.mtx' forms.rk --case plain.json \
    --do assemble -o a.vtr
usage "file for a number" '-o v\.txt: one number' forms.rk --case plain.json --do value \
    -o v.txt
fails "no such file" 3 "$rubus" form none.rk --case plain.json
says "no such file" 'none\.rk' err
fails "no such case" 3 "$rubus" form forms.rk --case none.json
says "no such case" "cannot read 'none.json'" err
fails "no such backend" 4 "$rubus" form forms.rk --case plain.json -b nosuch
sed 's/"x": 1/"components": 2/' plain.json >two.json
usage "picture of components" 'a picture shows one component, the case has 2' forms.rk \
    --case two.json -o u.png
check "components to .vtr" "$rubus" form forms.rk --case two.json --do vector -o u.vtr
says "components to .vtr" 'NumberOfComponents="2"' u.vtr
sed 's/\(\[{"points": \[0, 1, 3, 5\]}\)\]/\1, {"points": [0, 1]}, {"points": [0, 1]}]/' \
    two.json >box.json
usage "table of components" 'a table has no place for components' forms.rk \
    --case box.json -o u.tsv
check "components of a box to .txt" "$rubus" form forms.rk --case box.json --do vector \
    -o u.txt
same "components of a box to .txt" "$(grep -vc '^#' u.txt)" 32
"$rubus" form forms.rk --case plain.json --do vector -o no/such.vtr >out 2>err
same "to no folder: status" "$?" 3
says "to no folder" "^rubus: cannot write 'no/such\.vtr': " err
says "to no folder: summary" '^1D, 4 points' out

# --- cases ---------------------------------------------------------------------------------
# bad NAME PATTERN MEMBERS: a case of these members beside what plain.json has
bad() {
    printf '{%s}' "$3" >bad.json
    fails "$1" 3 "$rubus" form forms.rk --case bad.json
    says "$1" "^rubus: (bad\\.json:)?.*$2" err
}
forms='"matrix": "stiffness", "vector": "load"'
set='"set": {"f": 0}'
bad "no JSON" '[0-9]+:[0-9]+: ' '"mesh": '
bad "unknown member" 'unknown member "mash" \(known: real, mesh' "\"mash\": {}, $forms"
bad "real" '"real" must be "f32" or "f64"' "\"real\": 64, $line_mesh, $forms"
bad "do" '"do" must be "solve", "apply", "assemble", "vector" or "value"' \
    "\"do\": \"sing\", $line_mesh, $forms"
bad "no mesh" '"mesh" must be an object' "$forms"
bad "member of the mesh" '"mesh": unknown member "size"' "\"mesh\": {\"size\": 3}, $forms"
bad "no axes" '"mesh": "axes" must be a list of 1 to 3' "\"mesh\": {}, $forms"
bad "axes" '"mesh": "axes" must be a list of 1 to 3' "\"mesh\": {\"axes\": []}, $forms"
bad "time of the mesh" '"mesh": "time" is no number' \
    "\"mesh\": {\"axes\": [{\"points\": [0, 1]}], \"time\": \"now\"}, $forms"
bad "refine" '"mesh": "refine" must be a whole number from 0 to 30' \
    "\"mesh\": {\"axes\": [{\"points\": [0, 1]}], \"refine\": -1}, $forms"
axis() { # NAME PATTERN AXIS
    bad "axis: $1" "axis y of the mesh$2" \
        "\"mesh\": {\"axes\": [{\"points\": [0, 1]}, $3]}, $forms, $set"
}
axis "a number" ': must be an object with "n" and "interval", or "points"' 5
axis "unknown member" ': unknown member "size" \(known: n, interval, points, seed\)' \
    '{"size": 3}'
axis "no interval" ': "interval" is missing' '{"n": 3}'
axis "interval" ': "interval" must be a list of two numbers' '{"n": 3, "interval": [1]}'
axis "no n" ': "n" is missing' '{"interval": [0, 1]}'
axis "n" ': "n" must be a whole number from 1' '{"n": 0, "interval": [0, 1]}'
axis "n in 1e2" ': "n" must be a whole number from 1' '{"n": 1e2, "interval": [0, 1]}'
axis "seed" ': "seed" must be a whole number from 1' '{"n": 3, "interval": [0, 1], "seed": 0}'
axis "points and n" ': "points" goes with neither "n" nor "seed"' '{"points": [0, 1], "n": 2}'
axis "no points" ': "points" must be a list of numbers' '{"points": []}'
axis "one point" ': "points" must be a list of numbers' '{"points": 1}'
axis "a point" ': "points": number 2 is no number' '{"points": [0, "one"]}'
bad "points that do not increase" '"mesh": rubus_mesh_create: ' \
    "\"mesh\": {\"axes\": [{\"points\": [0, 2, 1]}]}, $forms, $set"
bad "interval that is none" '"mesh": rubus_mesh_create: ' \
    "\"mesh\": {\"axes\": [{\"n\": 3, \"interval\": [1, 0]}]}, $forms, $set"
mark() { # NAME PATTERN MARKS
    bad "mark: $1" "$2" "\"mesh\": {\"axes\": [{\"points\": [0, 1]}], \"marks\": $3}, $forms, $set"
}
mark "no object" '"mesh": "marks" must be an object' '[]'
mark "kind" 'mark "wall": must be names of faces, or an object with a "func"' '{"wall": 3}'
mark "unknown member" 'mark "wall": unknown member "at" \(known: func\)' \
    '{"wall": {"func": "middle", "at": 3}}'
mark "no face" 'mark "wall": .*north' '{"wall": "north"}'
mark "no func" 'mark "wall": .*midle' '{"wall": {"func": "midle"}}'
mark "func of a number" 'mark "wall": .*parabola' '{"wall": {"func": "parabola"}}'
bad "components" '"components" must be a whole number from 1' "$line_mesh, \"components\": 0, $forms"
bad "matrix" '"matrix" is no text' "$line_mesh, \"matrix\": 3, \"vector\": \"load\""
bad "no matrix" '"do": "solve": "matrix" is missing' "$line_mesh, \"vector\": \"load\""
bad "no vector" '"do": "solve": "vector" is missing' "$line_mesh, \"matrix\": \"stiffness\""
bad "no x" '"do": "apply": "x" is missing' "$line_mesh, \"do\": \"apply\", $forms"
bad "no y" '"do": "value": "y" is missing' "$line_mesh, \"do\": \"value\", \"x\": 1, $forms"
bad "no form for a value" '"do": "value": "matrix" is missing' "$line_mesh, \"do\": \"value\""
bad "no such form" '"matrix": .*stifness' "$line_mesh, \"matrix\": \"stifness\", \"vector\": \"load\""
bad "a vector as matrix" '"matrix": .*load' "$line_mesh, \"matrix\": \"load\", \"vector\": \"load\", $set"
bad "a matrix as vector" '"vector": .*mass' "$line_mesh, \"matrix\": \"mass\", \"vector\": \"mass\""
bad "solver" '"solver" must be "cg" or "bicgstab"' "$line_mesh, $forms, \"solver\": \"lu\""
bad "stored" '"stored" must be "none", "stencil" or "csr"' "$line_mesh, $forms, \"stored\": 1"
bad "cg without symmetry" '.*rubus_solve_cg: .*rubus_solve_bicgstab' \
    "$unit_mesh, \"matrix\": \"convection\", \"vector\": \"load\", \"solver\": \"cg\",
     \"set\": {\"eps\": 1, \"b\": 0.1, \"f\": 0}"
bad "symmetrise" '"symmetrise" must be true or false' \
    "$line_mesh, $forms, \"symmetrise\": 1"
bad "symmetrised without matrix" '"do": "vector": "matrix" is missing' \
    "$line_mesh, \"do\": \"vector\", \"vector\": \"load\", $set, \"symmetrise\": true"
bad "rtol" '"rtol" is negative' "$line_mesh, $forms, \"rtol\": -1"
bad "atol" '"atol" is no number' "$line_mesh, $forms, \"atol\": \"small\""
bad "niter" '"niter" must be a whole number from 1' "$line_mesh, $forms, \"niter\": 0"
bad "set" '"set" must be an object' "$line_mesh, $forms, \"set\": [1]"
bad "dirichlet" '"dirichlet" must be a list' "$line_mesh, $forms, $set, \"dirichlet\": {}"
bad "f32" '"x": number 2 of the list is no number of type f32' \
    "$line_mesh, \"real\": \"f32\", $forms, $set, \"x\": [0, 1e39, 0, 0]"
bad "f32 number" '"exact": must be a number of type f32' \
    "$line_mesh, \"real\": \"f32\", $forms, $set, \"exact\": 1e39"
condition() { # NAME PATTERN CONDITION
    bad "condition: $1" "condition 1 of \"dirichlet\": $2" \
        "$line_mesh, $forms, $set, \"dirichlet\": [$3]"
}
condition "kind" 'must be an object with "labels" and "value"' '"left"'
condition "unknown member" 'unknown member "at"' '{"at": "left", "value": 0}'
condition "labels" '"labels" is missing' '{"value": 0}'
condition "labels no text" '"labels" is no text' '{"labels": 1, "value": 0}'
condition "no value" '"value" is missing' '{"labels": "left"}'
condition "component" '"component" must be a whole number from 0 to 0' \
    '{"labels": "left", "component": 1, "value": 0}'
condition "no such label" '.*wall' '{"labels": "wall", "value": 0}'
condition "list" '3 numbers, 4 needed' '{"labels": "left", "value": [1, 2, 3]}'
condition "axis" '"axis" is for parameters in "set" only' \
    '{"labels": "left", "value": {"axis": "x", "values": [1, 2, 3, 4]}}'
parameter() { # NAME PATTERN VALUE: of f, a field
    bad "parameter: $1" "parameter \"f\": $2" "$line_mesh, $forms, \"set\": {\"f\": $3}"
}
parameter "kind" 'must be a number of type f64, a list of them, or an object with a "func"' true
parameter "unknown member" 'unknown member "hw" \(known: func, how, time\)' \
    '{"func": "parabola", "hw": 1}'
parameter "no func" '"func" is missing' '{"how": "mean"}'
parameter "func" '"func" is no text' '{"func": 3}'
parameter "how" '"how" must be "point" or "mean"' '{"func": "parabola", "how": "best"}'
parameter "time" '"time" is no number' '{"func": "parabola", "time": "now"}'
parameter "no such func" '.*parbola' '{"func": "parbola"}'
parameter "func of a condition" '.*middle' '{"func": "middle"}'
parameter "list" '3 numbers, 4 needed' '[1, 2, 3]'
parameter "element" 'number 2 of the list is no number of type f64' '[1, "two", 3, 4]'
parameter "no such axis" 'the mesh has no axis y' '{"axis": "y", "values": [1]}'
parameter "axis" '"axis" must be "x", "y" or "z"' '{"axis": "w", "values": [1]}'
parameter "axis, unknown member" 'unknown member "value" \(known: axis, values\)' \
    '{"axis": "x", "value": [1]}'
parameter "axis without values" '"values" must be a list of numbers' '{"axis": "x"}'
parameter "values of an axis" 'form "load" wants a number, a list of them for all points' \
    '{"axis": "x", "values": [1, 2, 3, 4]}'
bad "parameter that is not set" 'parameter "f": form "load" needs it; give it in "set"' \
    "$line_mesh, $forms"
bad "parameter of no form" 'parameter "kapa": no form of the case has it \(they have: .*f' \
    "$line_mesh, $forms, \"set\": {\"f\": 0, \"kapa\": 1}"
line_form="$line_mesh, \"do\": \"apply\", \"x\": 1, \"matrix\": \"line\", \"set\""
bad "number wanted" 'parameter "k": form "line" wants one number' \
    "$line_form: {\"a\": 1, \"k\": [1, 2, 3, 4]}"
bad "whole number wanted" 'parameter "k": rubus_form_set_number: .*0\.5' \
    "$line_form: {\"a\": 1, \"k\": 0.5}"
bad "axis wanted" 'parameter "a": form "line" wants a number, or .*"axis": "x"' \
    "$line_form: {\"a\": {\"func\": \"one\"}, \"k\": 1}"
bad "length of an axis" 'parameter "a": 3 numbers, 4 needed' \
    "$line_form: {\"a\": {\"axis\": \"x\", \"values\": [1, 2, 3]}, \"k\": 1}"
bad "x" '"x": 3 numbers, 4 needed' "$line_mesh, \"do\": \"apply\", $forms, \"x\": [1, 2, 3]"
bad "y of an axis" '"y": "axis" is for parameters in "set" only' \
    "$line_mesh, $forms, $set, \"y\": {\"axis\": \"x\", \"values\": [1, 2, 3, 4]}"
finish
