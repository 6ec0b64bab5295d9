/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel cache of the run's own, in a temporary folder, which is removed also when a
 * signal ends the run: the signal is noted, the check at hand ended, the folder removed,
 * and only then the signal takes its usual effect.
 */
#include "config.h"

#include "conform.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

/* Signals that end a run. */
static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
enum { NENDING = sizeof endings / sizeof endings[0] };

static volatile sig_atomic_t noted;

static void note(int signal_number)
{
    noted = signal_number;
}

bool conform_interrupted(void)
{
    return noted != 0;
}

void conform_signals_default(void)
{
    for (int i = 0; i < NENDING; i++) {
        struct sigaction now;
        if (sigaction(endings[i], NULL, &now) == 0 && now.sa_handler == note) {
            signal(endings[i], SIG_DFL);
        }
    }
}

static void watch_signals(void)
{
    for (int i = 0; i < NENDING; i++) {
        struct sigaction before;
        const struct sigaction noting = {.sa_handler = note};
        // one that the user had ignored (nohup) stays so
        if (sigaction(endings[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaction(endings[i], &noting, NULL);
        }
    }
}

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
    watch_signals();
    if (mkdtemp(folder) == NULL) {
        conform_signals_default();
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
    conform_signals_default();
    if (noted != 0) {
        raise(noted);
    }
}
