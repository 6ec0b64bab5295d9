# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# `rubus solve` against closed forms, direct solves and the iteration path that the
# algorithm fixes; how each outcome is told.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
cd "$work" || exit 99
solve=("$rubus" solve)
element() { # FILE NUMBER (from 1), comments do not count
    grep -v '^#' "$1" | sed -n "${2}p"
}
json() { # MEMBER of the object in out
    grep -o "\"$1\": [^,}]*" out | cut -d ' ' -f 2-
}

for backend in reference threads:threads=1 threads:threads=3 $vulkan_specs; do
    export RUBUS_BACKEND=$backend
    # The reference run in 1D, with every form of the kernels: to the bit the same.
    for kernels in math index fused; do
        check "1D $kernels on $backend" "${solve[@]}" --dim 1 --nx 64 --kernels $kernels \
            -o u.txt --json
        same "1D $kernels on $backend: iterations" "$(json iterations)" 630
        same "1D $kernels on $backend: outcome" "$(json outcome)" '"converged"'
        close_to "1D $kernels on $backend: residual" "$(json residual)" \
            8.385000874966408e-07 8e-11
        for pair in 8:0.12964753561537418 16:0.27781628959200655 32:0.4991493279304621 \
            48:0.703651308737878 56:0.8518255710551469; do
            close_to "1D $kernels on $backend: u[${pair%:*}]" \
                "$(element u.txt "${pair%:*}")" "${pair#*:}" 1e-12
        done
        [ -f first.txt ] || cp u.txt first.txt
        check "1D $kernels on $backend: the same bits" cmp u.txt first.txt
    done

    # 12 x 7 cells on 20 x 5 against a direct solve.
    check "2D non-square on $backend" "${solve[@]}" --nx 12 --ny 7 --lx 20 --ly 5 \
        -o n.tsv --json
    same "2D non-square on $backend: iterations" "$(json iterations)" 54
    worst=$(grep -v '^#' n.tsv | paste - <(grep -v '^#' \
        "$source_dir/tests/cases/nonsquare.tsv") | awk '
        { if (NF != 14) bad = 1
          for (i = 1; i <= 7; i++) {
              d = $i - $(i + 7); if (d < 0) d = -d; if (d > worst) worst = d
              s = $i - $(8 - i); if (s < 0) s = -s; if (s > 1e-9) bad = 1
          } }
        END { print bad || NR != 12 ? 9 : worst }')
    close_to "2D non-square on $backend: u" "$worst" 0 1e-6

    # Constant coefficient, linear profile along each axis: the solution is linear.
    for profile in x y z; do
        check "3D $profile on $backend" "${solve[@]}" --dim 3 --nx 10 --ny 6 --nz 5 \
            --lx 20 --ly 7 --lz 3 --lambda-const 1 --profile $profile -o l.txt
        worst=$(grep -v '^#' l.txt | awk -v p=$profile '
            { k = NR - 1; i = k % 10; j = int(k / 10) % 6; l = int(k / 60)
              w = p == "x" ? i / 9 : p == "y" ? j / 5 : l / 4
              d = $1 - w; if (d < 0) d = -d; if (d > worst) worst = d }
            END { print NR == 300 ? worst : 9 }')
        close_to "3D $profile on $backend" "$worst" 0 1e-6
    done
done
export RUBUS_BACKEND=threads

# --- iteration limits -------------------------------------------------------------------
outcome() { # NAME STATUS OUTCOME ARGUMENTS...
    local name=$1 status=$2 outcome=$3
    shift 3
    checks=$((checks + 1))
    "${solve[@]}" "$@" --json >out 2>err
    local got=$?
    [ $got -eq "$status" ] || note_failure "$name" "status $got instead of $status"
    same "$name" "$(json outcome)" "\"$outcome\""
    if [ "$status" -eq 1 ]; then
        says "$name" '^rubus: not converged' err
    fi
}
outcome "limit 50" 1 limit --dim 1 --nx 64 --niter 50 -o u50.txt
close_to "limit 50" "$(json residual)" 0.14873069234198705 1e-5
says "the file says so" '^#.*not converged \(limit\)' u50.txt
outcome "limit 629" 1 limit --dim 1 --nx 64 --niter 629
close_to "limit 629" "$(json residual)" 1.016074155013591e-06 1e-10
outcome "limit 630" 0 converged --dim 1 --nx 64 --niter 630 -o u630.txt
says "the file says so" '^#.*: converged after 630|^#.*converged after 630' u630.txt
outcome "limit 0" 1 limit --dim 1 --nx 64 --niter 0 -o u0.txt
same "limit 0" "$(grep -v '^#' u0.txt | sort -g | uniq -c | tr -s ' ' | tr '\n' ';')" \
    ' 63 0; 1 1;'
for niter in -1 1e3 abc 99999999999999999999 '' ' 5' 5x; do
    fails "--niter '$niter'" 2 "${solve[@]}" --dim 1 --nx 64 --niter "$niter"
    says "--niter '$niter'" '--niter' err
done

# --- bad coefficients -------------------------------------------------------------------
awk 'BEGIN { for (i = 0; i < 63; i++) print i == 19 ? "nan" : 1 }' >nan.txt
awk 'BEGIN { for (i = 0; i < 63; i++) print i == 30 ? -10 : 1 }' >negative.txt
awk 'BEGIN { for (i = 0; i < 63; i++) print i == 4 ? "x" : 1 }' >text.txt
for bad in nan:20 negative:31 text:5; do
    fails "${bad%:*} coefficient" 3 "${solve[@]}" --dim 1 --nx 64 --lambda "${bad%:*}.txt" \
        -o never.txt
    says "${bad%:*} coefficient" "${bad%:*}\\.txt:${bad#*:}: " err
done
# Bytes that a table may begin with, and bytes and numbers that it may not hold.
{ printf '\357\273\277# by an editor\r\n'; yes 1 | head -n 63; } >mark.txt
check "byte order mark" "${solve[@]}" --dim 1 --nx 64 --lambda mark.txt
{ printf '\357\273\277'; yes 1 | head -n 63; } >mark.txt
check "byte order mark before a number" "${solve[@]}" --dim 1 --nx 64 --lambda mark.txt
{ printf '1\n1\0002\n'; yes 1 | head -n 61; } >zero_byte.txt
fails "zero byte" 3 "${solve[@]}" --dim 1 --nx 64 --lambda zero_byte.txt
says "zero byte" 'zero_byte\.txt:2: a byte of value zero' err
for number in 1e400 1e-400; do
    { echo 1; echo $number; yes 1 | head -n 61; } >range.txt
    fails "coefficient $number" 3 "${solve[@]}" --dim 1 --nx 64 --lambda range.txt
    says "coefficient $number" "range\\.txt:2: $number is out of the range" err
done
fails "missing coefficient file" 3 "${solve[@]}" --dim 1 --nx 64 --lambda no.txt
says "missing coefficient file" 'no\.txt' err
head -n 40 negative.txt | sed 's/-//' >short.txt
fails "too few coefficients" 3 "${solve[@]}" --dim 1 --nx 64 --lambda short.txt -o never.txt
says "too few coefficients" 'short\.txt.*40' err
same "no file was left" "$(find . -name 'never*' | wc -l)" 0

# --- start value is the solution; all zero ----------------------------------------------
for nx in 200 64 12; do
    outcome "solved at the start, $nx" 0 converged --dim 1 --nx $nx --lambda-const 1 \
        --left 1 --right 1 --init 1 -o one.txt
    same "solved at the start, $nx" "$(json iterations)" 0
    same "solved at the start, $nx" "$(grep -v '^#' one.txt | sort -u)" 1
    same "solved at the start, $nx" "$(grep -vc '^#' one.txt)" $nx
done
outcome "all zero" 0 converged --dim 1 --nx 64 --right 0 -o zero.txt
same "all zero" "$(grep -v '^#' zero.txt | sort -u)" 0

# --- rounding level, contrast -----------------------------------------------------------
checks=$((checks + 1))
"${solve[@]}" --dim 1 --nx 200 --real f32 -o f32.txt --json >out 2>err
[ $? -eq 1 ] || note_failure "f32 floor" "status is not 1"
lacks "f32 floor" '"converged": true' out
says "f32 floor" '^rubus: not converged.*max.r. = [0-9.e-]+' err
close_to "f32 floor" "$(element f32.txt 100)" 0.499724548945 1e-2
awk 'BEGIN { for (i = 0; i < 63; i++) print i < 31 ? 1 : 1000000 }' >contrast.txt
outcome "contrast" 0 converged --dim 1 --nx 64 --lambda contrast.txt -o c.txt
close_to "contrast u[16]" "$(element c.txt 16)" 0.48387046826274244 1e-6
close_to "contrast u[32]" "$(element c.txt 32)" 0.999998967743001 1e-6
checks=$((checks + 1))
"${solve[@]}" --dim 1 --nx 64 --lambda contrast.txt --real f32 --json >out 2>err &&
    note_failure "contrast in f32" "claims convergence"

# --- checkpoint and restart -------------------------------------------------------------
"${solve[@]}" --dim 1 --nx 64 --tol 0 --niter 400 -o a.txt >/dev/null 2>&1
"${solve[@]}" --dim 1 --nx 64 --tol 0 --niter 205 --checkpoint c.bin >/dev/null 2>&1
"${solve[@]}" --restart c.bin --niter 400 -o b.txt >/dev/null 2>&1
check "restart gives the same bits" cmp a.txt b.txt
close_to "restart" "$(element b.txt 32)" 0.4949601532044946 1e-12
"${solve[@]}" --restart c.bin --niter 400 -b reference -o r.txt >/dev/null 2>&1
check "restart on another backend" cmp a.txt r.txt
# T_eff is of the iterations of this run; there is none where none ran.
checks=$((checks + 1))
"${solve[@]}" --restart c.bin --niter 205 --json >out 2>err
same "restart without iterations" "$? $(json iterations) $(json t_eff_gbs)" '1 205 null'
checks=$((checks + 1))
"${solve[@]}" --restart c.bin --niter 205 >out 2>err
lacks "restart without iterations" 'T_eff' out
says "restart without iterations" ' 0 of them in this run' out
"${solve[@]}" --restart c.bin --niter 300 --json >out 2>err
same "T_eff of a restart" "$(awk -v t="$(json time_s)" -v g="$(json t_eff_gbs)" 'BEGIN {
    w = 6 * 64 * 8 * 95 / t / 1e9; d = g / w - 1; print (d < 1e-6 && d > -1e-6) }')" 1
size=$(wc -c <c.bin)
for cut in 0 10 $((size / 2)) $((size - 1)); do
    head -c "$cut" c.bin >cut.bin
    fails "checkpoint cut to $cut" 3 "${solve[@]}" --restart cut.bin --niter 400
    says "checkpoint cut to $cut" 'cut\.bin' err
done
fails "no checkpoint" 3 "${solve[@]}" --restart none.bin
fails "not a checkpoint" 3 "${solve[@]}" --restart a.txt
fails "restart with sizes" 2 "${solve[@]}" --restart c.bin --nx 64

# --- sizes and files that cannot be -----------------------------------------------------
fails "two cells" 3 "${solve[@]}" --dim 3 --nx 10 --ny 6 --nz 2
says "two cells" '3' err
check "one inner layer" "${solve[@]}" --dim 3 --nx 10 --ny 6 --nz 3 --lambda-const 1
# What cannot be written costs neither the other files nor the summary.
checks=$((checks + 1))
"${solve[@]}" --nx 16 -o no/such/u.txt --plot no/u.png --history other.csv \
    --checkpoint other.bin >out 2>err
same "no such folder" "$?" 3
says "no such folder" 'no/such/u\.txt' err
says "no such folder" 'no/u\.png' err
says "no such folder: summary" '^converged after' out
same "no such folder: the other files" "$(wc -l <other.csv | tr -d ' ') $(head -c 8 other.bin)" \
    "$(("$(grep -c , other.csv)")) RUBUSCKP"
# Endings are looked at before anything is solved.
for wrong in '-o u.xyz' '-o u' '--plot u.vti' '--plot u'; do
    # shellcheck disable=SC2086 # two words
    fails "unknown ending, $wrong" 3 "${solve[@]}" --nx 16 $wrong --history never.csv
    says "unknown ending, $wrong" "${wrong#* }: the ending" err
done
same "nothing was solved" "$(find . -name 'never*' | wc -l)" 0
# Two results on one file: one of them would be lost.
mkdir -p folder && ln -sfn folder link
for pair in '-o s.txt --history s.txt' '-o s.txt --checkpoint ./s.txt' \
    '-o s.png --plot s.png' "--history $work/s.csv --checkpoint folder/../s.csv" \
    '-o folder/s.txt --history link/s.txt'; do
    # shellcheck disable=SC2086 # several words
    fails "one file twice, $pair" 2 "${solve[@]}" --nx 16 $pair
    says "one file twice, $pair" ' and --[a-z]+ would write the same file' err
done
same "nothing was written" "$(find . -name 's.*' | wc -l)" 0
check "two names" "${solve[@]}" --nx 16 -o s.txt --history s2.txt --checkpoint folder/s.txt
check "a device takes several" "${solve[@]}" --nx 16 --history /dev/null \
    --checkpoint s3.bin --plot s3.png -o s4.png
fails "far too large" 3 "${solve[@]}" --nx 4000000000 --ny 4000000000
fails "far too large, ny not given" 3 "${solve[@]}" --nx 3000000000
says "far too large, ny not given" 'grid of 3000000000 x 3000000000 cells' err
lacks "far too large, ny not given" 'ny is' err
for path in /dev/zero .; do
    fails "coefficients of $path" 3 "${solve[@]}" --nx 8 --lambda "$path"
    says "coefficients of $path" 'not a regular file' err
done
mkfifo pipe
fails "coefficients of a FIFO" 3 "${solve[@]}" --nx 8 --lambda pipe

# --- files ------------------------------------------------------------------------------
check "all files" "${solve[@]}" --nx 32 --ny 24 -o f.vti --plot f.png --history f.csv
same "picture" "$(head -c 8 f.png | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a
says "history" '^iteration,iteration_per_n,residual$' f.csv
says "history" '^4,0\.125,' f.csv
check "vtk" "${solve[@]}" --nx 4 --ny 3 --lx 8 --ly 15 -o f.vtk
says "vtk" '^DIMENSIONS 5 4 2$|^DIMENSIONS 5 4 1$' f.vtk
says "vtk" '^SPACING 2 5 1$' f.vtk
says "vtk" '^CELL_DATA 12$' f.vtk
finish
