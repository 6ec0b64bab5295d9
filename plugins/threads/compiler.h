/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_THREADS_COMPILER_H
#define RUBUS_THREADS_COMPILER_H
/*
 * The C compiler of the system: which it is, with what flags it is called, and a call.
 */
#include <stdbool.h>

#include <rubus/backend.h>

#include "plugins/threads/hash.h"

#define THREADS_COMPILER_WORDS 30

typedef enum {
    THREADS_COMPILER_GCC,
    THREADS_COMPILER_CLANG,
    THREADS_COMPILER_OTHER
} threads_compiler_kind;

typedef struct threads_compiler {
    char *words;      /* memory of path and word; NULL: not looked for yet */
    const char *path; /* of the program */
    /* Its arguments as the user wrote them. The first `lead` do not begin with a minus:
     * "gcc" of "ccache gcc". */
    int nword;
    int lead;
    const char *word[THREADS_COMPILER_WORDS];
    const char *origin; /* "RUBUS_CC", "configured" or "from PATH" */
    threads_compiler_kind kind;
    threads_hash id; /* program, version, words, features of the processor */
} threads_compiler;

/*
 * Looks for the compiler: option "cc", the one of configure, then cc, gcc, clang. Runs
 * nothing. EUNSUPPORTED if there is none; ENOMEM.
 */
rubus_status threads_compiler_find(const rubus_host *host,
                                   threads_compiler *out_compiler);
/* Finds out kind and id. Asks the program for its version unless the cache knows it. */
rubus_status threads_compiler_identify(const rubus_host *host,
                                       threads_compiler *compiler);
void threads_compiler_fini(const rubus_host *host, threads_compiler *compiler);
/* The command and where it comes from, or that there is none. */
void threads_compiler_describe(const rubus_host *host, char *out, size_t room);

/*
 * Compiles the text to a shared object, in a fresh file without a name. module: for
 * messages. fast: contraction is allowed. ECOMPILE with the compiler's own words,
 * EUNSUPPORTED if it cannot be started, EIO if there is no file to be had, ENOMEM.
 */
rubus_status threads_compiler_run(const rubus_host *host,
                                  const threads_compiler *compiler, const char *module,
                                  const char *text, uint64_t size, bool fast,
                                  int *out_fd);

#endif
