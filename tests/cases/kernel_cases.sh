# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Runs each case of kernels/ on every backend: NAME.rk with NAME.json must print what
# NAME.want says, or fail as NAME.fails says.
#
# NAME.want: lines as `rubus run` prints them; `*` stands for any number; "tolerance T" is
# relative (0 where it is not given).
# NAME.fails: the exit status, then patterns that stderr must (+) and must not (-) hold.
# shellcheck source=tests/support/shell_checks.sh
. "${RUBUS_TEST_SRCDIR:?run by make check}/tests/support/shell_checks.sh"
folder=$source_dir/tests/cases/kernels

compare() { # NAME OUTPUT WANT
    checks=$((checks + 1))
    local message
    message=$(awk '
        function word(x) { return x ~ /^-?(nan|inf)$/ }
        FNR == NR {
            if ($1 == "tolerance") tolerance = $2
            else if ($0 !~ /^#/) want[++nwant] = $0
            next
        }
        {
            n++
            m = split($0, g)
            k = split(want[n], w)
            if (m != k) { print "line " n ": " $0; bad = 1; exit }
            for (i = 1; i <= k; i++) {
                if (w[i] == "*" || w[i] == g[i]) continue
                if (i == 1 || word(w[i]) || word(g[i])) {
                    print "line " n ": " g[i] " instead of " w[i]; bad = 1; exit
                }
                d = g[i] - w[i]; if (d < 0) d = -d
                size = w[i] < 0 ? -w[i] : w[i]
                if (d > tolerance * size) {
                    print "line " n ": " g[i] " instead of " w[i]; bad = 1; exit
                }
            }
        }
        END { if (!bad && n != nwant) print n " lines instead of " nwant }' "$3" "$2")
    [ -z "$message" ] || note_failure "$1" "$message"
}

for backend in reference threads:threads=1 threads:threads=3 $vulkan_specs; do
    for case in "$folder"/*.json; do
        base=${case%.json}
        name="$(basename "$base") on $backend"
        run=("$rubus" run "$base.rk" --case "$case" -b "$backend")
        if [ -f "$base.want" ]; then
            check "$name" "${run[@]}" && compare "$name" "$work/out" "$base.want"
        else
            {
                read -r status
                fails "$name" "$status" "${run[@]}"
                while read -r sign pattern; do
                    case $sign in
                        +) says "$name" "$pattern" "$work/err" ;;
                        -) lacks "$name" "$pattern" "$work/err" ;;
                    esac
                done
            } <"$base.fails"
        fi
    done
done
finish
