/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_ONE_BACKEND_H
#define RUBUS_TESTS_ONE_BACKEND_H
/*
 * RUBUS_TEST_BACKEND=SPEC: tests that loop over a table of backends run on this one
 * alone, which takes the place of one in the table. So the suite runs on a backend that
 * is no part of the library.
 */
#include <stdbool.h>
#include <stdlib.h>

static inline bool one_backend(const char **place)
{
    const char *spec = getenv("RUBUS_TEST_BACKEND");
    if (spec == NULL || spec[0] == '\0') {
        return false;
    }
    *place = spec;
    return true;
}

#endif
