# SPDX-License-Identifier: Apache-2.0
# Writes the files named on the command line as a C table: rk_embedded_list of
# libcore/kernel/program.h. Bytes stand as numbers, because a string literal may not be
# longer than 4095 characters in ISO C. Run with LC_ALL=C: one character is one byte.

BEGIN {
    for (i = 1; i < 256; i++) {
        code[sprintf("%c", i)] = i
    }
    print "/* Generated from shaders/ by embed.awk. */"
    print "#include \"config.h\""
    print ""
    print "#include \"libcore/kernel/program.h\""
}

FNR == 1 {
    finish()
    nfile++
    name[nfile] = FILENAME
    sub(/^.*\//, "", name[nfile])
    printf "\nstatic const unsigned char text%d[] = {", nfile
}

{
    n = length($0)
    printf "\n    "
    for (i = 1; i <= n; i++) {
        printf "%d,", code[substr($0, i, 1)]
    }
    printf "10,"
}

function finish()
{
    if (nfile > 0) {
        print " 0};"
    }
}

END {
    finish()
    print "\nconst rk_embedded rk_embedded_list[] = {"
    for (i = 1; i <= nfile; i++) {
        printf "    {\"%s\", (const char *)text%d, sizeof text%d - 1},\n", name[i], i, i
    }
    print "    {NULL, NULL, 0},\n};"
}
