# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The examples: each was built with the public headers only, finds its kernels, prints the
# number of iterations that its algorithm needs, and draws its picture.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
cd "$work" || exit 99

example() { # NAME PICTURE WORDS ARGUMENT...
    local name=$1 picture=$2 words=$3
    shift 3
    rm -f "$picture"
    check "$name $* on $RUBUS_BACKEND" "$here/examples/$name" \
        "$source_dir/examples/$name.rk" "$@"
    says "$name $* on $RUBUS_BACKEND" "$words" out
    same "$name $* on $RUBUS_BACKEND: picture" \
        "$(head -c 8 "$picture" | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a
}

export RUBUS_BACKEND=threads
example 02_relax_1d relax_1d.png '^converged after 630 iterations$'
says "02_relax_1d: history" '^ *630  8\.385e-07$' out
example 03_relax_2d relax_2d.png '^converged after 845 iterations$'
says "03_relax_2d: history" '^ *845  9\.622e-07$' out
says "03_relax_2d: history" '^ *13  9\.617e\+00$' out
example 04_relax_3d relax_3d.png '^converged after 399 iterations$'
says "04_relax_3d: history" '^ *7  1\.681e\+01$' out
example 04_relax_3d relax_3d.png '^converged after 141 iterations$' 24
example 05_custom_operator custom_operator.png '^mass ([0-9.]+) before, \1 after$'
says "05_custom_operator: centre" \
    '^step  600: highest value 0\.9585, centre \(0\.6676, 0\.6098\)$' out

krylov() { # on $RUBUS_BACKEND; the number of iterations is the same on each
    rm -f plate.png
    check "06_krylov on $RUBUS_BACKEND" "$here/examples/06_krylov"
    says "06_krylov on $RUBUS_BACKEND" '^converged after 261 iterations: ' out
    says "06_krylov on $RUBUS_BACKEND: error" '^largest error [0-9]e-(09|1[0-9])$' out
    same "06_krylov on $RUBUS_BACKEND: picture" \
        "$(head -c 8 plate.png | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a
}
krylov

forms() { # NAME PICTURE WORDS: an example with forms
    rm -f "$2"
    check "$1 on $RUBUS_BACKEND" "$here/examples/$1"
    says "$1 on $RUBUS_BACKEND" "$3" out
    same "$1 on $RUBUS_BACKEND: picture" \
        "$(head -c 8 "$2" | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a
    checks=$((checks + 1))
    [ "$(wc -l <"$source_dir/examples/$1.c")" -lt 100 ] ||
        note_failure "$1" "has 100 lines or more"
}
forms 07_poisson poisson.png '^ *33 x 34 +3\.508e-04 +1\.91$'
says "07_poisson: the finest mesh" '^ *65 x 66 +9\.155e-05 +1\.96$' out
forms 08_variable_coefficient variable_coefficient.png \
    '^bar of 1000: highest value 0\.0566, converged after 303 iterations$'
says "08_variable_coefficient: nothing but the plate" '^bar of +1: .* 0\.0737, converged' out
forms 09_convection_diffusion convection_diffusion.png '^eps 0\.0156: flow 0\.0919, converged$'
forms 10_picard picard.png '^sweep 7: step [0-9.]+e-11$'
says "10_picard: the solution" '^error 2\.153e-06$' out
forms 11_robin robin.png '^65 x 65: error 2\.041e-04, order 2\.00$'
forms 12_system system.png '^exchange 100: means 0\.1413 and 0\.3170, converged$'

# The factor of a step is 1 / (1 + dt lambda) for the discrete lambda of sin sin:
# (2 4/h^2) sin^2(pi h/2), h = 1/32.
series() { # on $RUBUS_BACKEND
    rm -f heat.pvd heat_*.vtr
    check "13_heat_series on $RUBUS_BACKEND" "$here/examples/13_heat_series"
    says "13_heat_series on $RUBUS_BACKEND" '^t = 0\.1: centre 0\.141828,' out
    says "13_heat_series on $RUBUS_BACKEND: files" '^heat\.pvd lists 5 files$' out
    same "13_heat_series on $RUBUS_BACKEND: collection" "$(grep -c '<DataSet' heat.pvd)" 5
    same "13_heat_series on $RUBUS_BACKEND: grids" "$(printf '%s ' heat_*.vtr)" \
        'heat_0.vtr heat_1.vtr heat_2.vtr heat_3.vtr heat_4.vtr '
}
series

export RUBUS_BACKEND=reference
krylov
series
example 02_relax_1d relax_1d.png '^converged after 630 iterations$'
example 03_relax_2d relax_2d.png '^converged after 90 iterations$' 16
example 05_custom_operator custom_operator.png '^mass ([0-9.]+) before, \1 after$' 2

# Without an argument the kernels are looked for in the present folder.
for name in 02_relax_1d 03_relax_2d 04_relax_3d 05_custom_operator; do
    checks=$((checks + 1))
    "$here/examples/$name" >out 2>err && note_failure "$name" "found kernels in no place"
    says "$name without its kernels" "$name\\.rk" err
    checks=$((checks + 1))
    [ "$(wc -l <"$source_dir/examples/$name.c")" -lt 120 ] ||
        note_failure "$name" "has 120 lines or more"
done
cp "$source_dir/examples/02_relax_1d.rk" .
check "kernels in the present folder" "$here/examples/02_relax_1d"
finish
