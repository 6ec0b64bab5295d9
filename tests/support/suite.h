/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_SUITE_H
#define RUBUS_TESTS_SUITE_H
/*
 * The main function of a libcheck test program: RUBUS_TEST_MAIN("name", suite_function).
 *
 * check's own variables work as usual: CK_FORK=no for a debugger, CK_RUN_CASE to pick a
 * case, CK_VERBOSITY, CK_TIMEOUT_MULTIPLIER under slow tools. A test that runs longer
 * than five minutes is ended. RUBUS_TEST_LONG=1 asks for long soaks.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define RUBUS_TEST_SKIPPED 77 /* exit status that automake shows as SKIP */

/* True in `make check-long`. */
static inline bool rubus_test_long(void)
{
    const char *value = getenv("RUBUS_TEST_LONG");
    return value != NULL && value[0] == '1';
}

static inline int rubus_test_run(const char *name, Suite *(*make)(void))
{
    // Read by tcase_create: holds for every case that sets no limit of its own.
    if (setenv("CK_DEFAULT_TIMEOUT", "300", 0) != 0) {
        return EXIT_FAILURE;
    }
    printf("%s\n", name);
    fflush(stdout); // or a forked test would print it again
    SRunner *runner = srunner_create(make());
    srunner_run_all(runner, CK_ENV);
    int nfailed = srunner_ntests_failed(runner);
    int nrun = srunner_ntests_run(runner);
    srunner_free(runner);
    if (nrun == 0) {
        fprintf(stderr, "%s: no test ran\n", name);
        return getenv("CK_RUN_CASE") != NULL ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    return nfailed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#define RUBUS_TEST_MAIN(name, suite_function)                                            \
    int main(void)                                                                       \
    {                                                                                    \
        return rubus_test_run((name), suite_function);                                   \
    }

#endif
