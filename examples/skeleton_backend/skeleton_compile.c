/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of the dialect c becomes functions of this process: it goes through the system's C
 * compiler into a shared object, in a folder that is removed at once. The flags keep the
 * arithmetic of the kernel language: no contraction to fused multiply-adds, integers that
 * wrap around, no reordering. Complete; a backend of another dialect has no use for it.
 */
#define _GNU_SOURCE
#include "skeleton_backend.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_ROOM = 256, COMMAND_ROOM = 512, WORDS_MOST = 40, MESSAGE_ROOM = 2000 };

extern char **environ;

/* The files of one call of the compiler. */
typedef struct files {
    char folder[PATH_ROOM];
    char source[PATH_ROOM + 16];
    char object[PATH_ROOM + 16];
    char messages[PATH_ROOM + 16];
} files;

static rubus_status files_make(const rubus_host *host, const rubus_module_desc *desc,
                               files *f)
{
    const char *temporary = getenv("TMPDIR");
    const int n = snprintf(f->folder, sizeof f->folder, "%s/skeleton-XXXXXX",
                           temporary != NULL && temporary[0] == '/' ? temporary : "/tmp");
    if (n >= PATH_ROOM || mkdtemp(f->folder) == NULL) {
        return host->fail(host->ctx, RUBUS_EIO,
                          "module %s: no temporary folder %s: %s; TMPDIR names another",
                          desc->name, f->folder, strerror(errno));
    }
    snprintf(f->source, sizeof f->source, "%s/module.c", f->folder);
    snprintf(f->object, sizeof f->object, "%s/module.so", f->folder);
    snprintf(f->messages, sizeof f->messages, "%s/messages", f->folder);
    FILE *out = fopen(f->source, "we");
    bool good =
        out != NULL && fwrite(desc->text, 1, desc->text_size, out) == desc->text_size;
    good = out != NULL && fclose(out) == 0 && good;
    return good ? RUBUS_OK
                : host->fail(host->ctx, RUBUS_EIO, "module %s: writing %s: %s",
                             desc->name, f->source, strerror(errno));
}

static void files_remove(const files *f)
{
    unlink(f->source);
    unlink(f->object);
    unlink(f->messages);
    rmdir(f->folder);
}

/* The words of the command: that of the option cc (RUBUS_CC), then the flags. */
static void make_command(char *command, bool fast, const files *f, char *word[])
{
    static char flags[][24] = {"-O2",   "-fwrapv", "-fno-strict-aliasing",
                               "-fPIC", "-shared", "-w"};
    static char exact[] = "-ffp-contract=off";
    static char contract[] = "-ffp-contract=fast";
    static char output[] = "-o";
    static char mathematics[] = "-lm";
    const size_t nflag = sizeof flags / sizeof flags[0];
    size_t n = 0;
    char *rest = command;
    for (char *at; n + nflag + 6 < WORDS_MOST && (at = strsep(&rest, " \t")) != NULL;) {
        if (at[0] != '\0') {
            word[n++] = at;
        }
    }
    for (size_t i = 0; i < nflag; i++) {
        word[n++] = flags[i];
    }
    word[n++] = fast ? contract : exact;
    word[n++] = output;
    word[n++] = (char *)f->object;
    word[n++] = (char *)f->source;
    word[n++] = mathematics;
    word[n] = NULL;
}

/* Runs the command with its messages in a file; 0 or an error number. */
static int run_command(char *const word[], const files *f)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t all;
    pid_t pid = 0;
    int status = 0;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes,
                                 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        error = posix_spawn_file_actions_addopen(&actions, 1, f->messages,
                                                 O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (error == 0) {
            error = posix_spawn_file_actions_adddup2(&actions, 1, 2);
        }
        if (error == 0) {
            error = posix_spawnp(&pid, word[0], &actions, &attributes, word, environ);
        }
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    /* A program that collects its children itself leaves no status: see the object. */
    while (error == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return error;
}

static rubus_status tell_messages(const rubus_host *host, const rubus_module_desc *desc,
                                  const char *compiler, const files *f)
{
    char text[MESSAGE_ROOM] = "";
    FILE *in = fopen(f->messages, "re");
    if (in != NULL) {
        text[fread(text, 1, sizeof text - 1, in)] = '\0';
        fclose(in);
    }
    return host->fail(host->ctx, RUBUS_ECOMPILE,
                      "module %s: the C compiler %s (RUBUS_CC chooses another) made no "
                      "object: %s",
                      desc->name, compiler,
                      text[0] != '\0' ? text : "it said nothing of a reason");
}

static rubus_status build(const rubus_host *host, const rubus_module_desc *desc,
                          const files *f, void **out_library)
{
    char command[COMMAND_ROOM];
    char *word[WORDS_MOST];
    const char *option = host->option(host->ctx, "cc");
    snprintf(command, sizeof command, "%s",
             option != NULL && option[strspn(option, " \t")] != '\0' ? option : "cc");
    make_command(command, (desc->flags & RUBUS_MODULE_FAST) != 0, f, word);
    const int error = run_command(word, f);
    if (error != 0) {
        return host->fail(
            host->ctx, RUBUS_EUNSUPPORTED,
            "module %s: the C compiler %s could not be started: %s; install "
            "one, or give its path in RUBUS_CC",
            desc->name, word[0], strerror(error));
    }
    if (access(f->object, R_OK) != 0) {
        return tell_messages(host, desc, word[0], f);
    }
    *out_library = dlopen(f->object, RTLD_NOW | RTLD_LOCAL);
    return *out_library != NULL ? RUBUS_OK
                                : host->fail(host->ctx, RUBUS_ECOMPILE, "module %s: %s",
                                             desc->name, dlerror());
}

rubus_status skeleton_compile(const rubus_host *host, const rubus_module_desc *desc,
                              void **out_library)
{
    files f = {.folder = ""};
    if (strcmp(desc->dialect, "c") != 0) {
        return host->fail(host->ctx, RUBUS_EUNSUPPORTED,
                          "module %s: its dialect is %s; the backend skeleton takes c",
                          desc->name, desc->dialect);
    }
    rubus_status st = files_make(host, desc, &f);
    if (st == RUBUS_OK) {
        st = build(host, desc, &f, out_library);
    }
    files_remove(&f);
    return st;
}

rubus_status skeleton_entry_find(const rubus_host *host, void *library,
                                 const rubus_entry *from, skeleton_entry *out_entry)
{
    void *symbol = dlsym(library, from->symbol);
    if (symbol == NULL) {
        return host->fail(host->ctx, RUBUS_ECOMPILE, "%s: the text has no function %s",
                          from->label, from->symbol);
    }
    out_entry->slot = host->alloc(host->ctx, (from->nbuffer + 1) * sizeof(uint32_t),
                                  _Alignof(max_align_t));
    if (out_entry->slot == NULL) {
        return RUBUS_ENOMEM;
    }
    memcpy(&out_entry->run, &symbol, sizeof symbol);
    out_entry->block_size = from->block_size;
    out_entry->nbuffer = from->nbuffer;
    for (uint32_t p = 0; p < from->nparam; p++) {
        if (from->param[p].is_buffer) {
            out_entry->slot[from->param[p].index] = from->param[p].offset;
        }
    }
    return RUBUS_OK;
}
