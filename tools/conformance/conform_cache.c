/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel cache of the run's own, in a temporary folder. */
#include "config.h"

#include "conform.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

static int remove_one(const char *path, const struct stat *info, int type,
                      struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    (void)remove(path); // what cannot be removed stays behind
    return 0;
}

void conform_remove_tree(const char *folder)
{
    enum { DESCRIPTORS = 16 };
    (void)nftw(folder, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

bool conform_cache_open(char folder[256])
{
    const char *where = getenv("TMPDIR");
    snprintf(folder, 256, "%.200s/rubus-conformance-XXXXXX",
             where != NULL && where[0] == '/' ? where : "/tmp");
    if (mkdtemp(folder) == NULL) {
        cli_fail(CLI_DEVICE, "conformance: no temporary folder %s: %s", folder,
                 strerror(errno));
        return false;
    }
    setenv("RUBUS_CACHE_DIR", folder, 1);
    return true;
}

void conform_cache_close(const char *folder)
{
    conform_remove_tree(folder);
}
