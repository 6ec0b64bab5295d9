# SPDX-License-Identifier: Apache-2.0
# Makes rubus/backend.h as it would be in another minor version of the ABI, for plugins of
# tests. The file is given twice.
#   -v minor=older   without the last two slots, as if they were appended later
#   -v minor=newer   with a slot, and a field of each struct with a size, appended
FNR == 1 { in_list = 0 }
/^#define RUBUS_SLOT_LIST\(X\)/ { in_list = 1 }
NR == FNR { # the names of the slots, in order
    if (in_list && match($0, /X\([a-z_]+,/)) {
        name[++nslot] = substr($0, RSTART + 2, RLENGTH - 3)
        gone[name[nslot]] = 0
    }
    if (in_list && !/\\$/) {
        in_list = 0
        for (i = nslot - 1; i <= nslot; i++) {
            gone[name[i]] = minor == "older"
        }
    }
    next
}
in_list {
    last = !/\\$/
    if (match($0, /X\([a-z_]+,/)) {
        here = substr($0, RSTART + 2, RLENGTH - 3)
        if (minor == "older" && gone[here]) {
            in_list = !last
            next
        }
        if (minor == "older" && here == name[nslot - 2]) {
            sub(/[ ]*\\$/, "")
        }
        if (minor == "newer" && last) {
            print $0 " \\"
            print "    X(prefetch, 0, 1, \"brings a buffer near\")"
            in_list = 0
            next
        }
    }
    in_list = !last
}
match($0, /\(\*[a-z_]+\)\(/) && gone[substr($0, RSTART + 2, RLENGTH - 4)] { skipping = 1 }
skipping {
    skipping = !/;/
    next
}
minor == "newer" && /^#define RUBUS_ABI_MINOR / {
    print "#define RUBUS_ABI_MINOR 1u"
    next
}
minor == "newer" && /^} rubus_ops;/ {
    print "    rubus_status (*prefetch)(void *ctx, void *buffer);"
}
minor == "newer" && /^} rubus_(caps|host|plugin_desc);/ { print "    uint64_t appended;" }
{ print }
