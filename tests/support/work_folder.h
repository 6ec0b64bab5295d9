/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_WORK_FOLDER_H
#define RUBUS_TESTS_WORK_FOLDER_H
/* A folder of its own for each test, in which it works: a checked fixture. Include after
 * check.h. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char work_folder[64];

static inline void enter_work_folder(void)
{
    snprintf(work_folder, sizeof work_folder, "/tmp/rubus-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(work_folder));
    ck_assert_int_eq(chdir(work_folder), 0);
}

static inline void leave_work_folder(void)
{
    char command[128];
    ck_assert_int_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", work_folder);
    ck_assert_int_eq(system(command), 0);
}

#endif
