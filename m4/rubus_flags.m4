# SPDX-License-Identifier: Apache-2.0

# RUBUS_FLAGS(VARIABLE, WHAT, FLAGS): VARIABLE is FLAGS if the compiler takes them all.
AC_DEFUN([RUBUS_FLAGS], [
    AC_MSG_CHECKING([whether $CC takes the flags for $2])
    rubus_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $3 -Werror"
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int rubus_probe = 1;]])],
        [AC_MSG_RESULT([yes])
         $1="$3"],
        [AC_MSG_RESULT([no])
         $1=])
    CFLAGS=$rubus_saved_CFLAGS
    AC_SUBST([$1])
])

# RUBUS_LINK_FLAGS(VARIABLE, WHAT, FLAGS): VARIABLE is FLAGS if a link with them succeeds.
AC_DEFUN([RUBUS_LINK_FLAGS], [
    AC_MSG_CHECKING([whether $CC takes the flags for $2])
    rubus_saved_LDFLAGS=$LDFLAGS
    LDFLAGS="$LDFLAGS $3"
    AC_LINK_IFELSE([AC_LANG_SOURCE([[
#include <stdio.h>
int rubus_probe(int *x) { return x[0] + printf("x"); }
int main(void) { int x[1] = {0}; return rubus_probe(x); }
]])],
        [AC_MSG_RESULT([yes])
         $1="$3"],
        [AC_MSG_RESULT([no])
         $1=])
    LDFLAGS=$rubus_saved_LDFLAGS
    AC_SUBST([$1])
])
