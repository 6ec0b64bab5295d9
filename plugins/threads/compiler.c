/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the C compiler and learns who it is. A command is split at blanks and never seen
 * by a shell; a command that is the path of a program as it stands may hold blanks. The
 * answer to --version is kept in the kernel cache beside the kernels, so that a program
 * whose kernels are cached starts no process at all.
 */
#include "config.h"

#include "plugins/threads/compiler.h"

#include "plugins/threads/cpu_count.h"
#include "plugins/threads/spawn.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Raise it when flags or the form of cached objects change. */
#define FORM "rubus threads object 1"
#define VERSION_HEAD "rubus compiler 1\n"
#define VERSION_TAIL "\nend\n"
#define VERSION_ROOM 2048
#define VERSION_SUFFIX "cc-version"
#define BLANKS " \t\n\r\v\f"

/* --- finding it ------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* Full path of a program: as it stands if there is a slash in it, else from PATH, which a
 * program with raised rights does not read from its caller. */
static bool find_program(const char *name, char out[PATH_MAX])
{
    if (strchr(name, '/') != NULL) {
        int n = snprintf(out, PATH_MAX, "%s", name);
        return n > 0 && n < PATH_MAX && is_program(out);
    }
    const char *list = secure_getenv("PATH");
    if (list == NULL) {
        list = "/usr/local/bin:/usr/bin:/bin";
    }
    while (*list != '\0') {
        size_t size = strcspn(list, ":");
        int n = snprintf(out, PATH_MAX, "%.*s/%s", (int)size, list, name);
        // An empty or relative entry would be the working directory: never run from
        // there.
        if (*list == '/' && n > 0 && n < PATH_MAX && is_program(out)) {
            return true;
        }
        list += size;
        list += *list == ':';
    }
    return false;
}

static rubus_status missing(const rubus_host *host, const char *command,
                            const char *origin, const char *why)
{
    return host->fail(host->ctx, RUBUS_EUNSUPPORTED,
                      "kernels of your own need a C compiler: '%s' (%s) %s; install one "
                      "(on Debian: apt install gcc), or give its path in RUBUS_CC (a "
                      "program and plain arguments, no shell)",
                      command, origin, why);
}

/* Splits a command into the words of the compiler and resolves the program. */
static rubus_status take_command(const rubus_host *host, const char *command,
                                 const char *origin, threads_compiler *compiler)
{
    command += strspn(command, BLANKS);
    size_t size = strlen(command);
    while (size > 0 && strchr(BLANKS, command[size - 1]) != NULL) {
        size--;
    }
    char *words = host->alloc(host->ctx, size + 1 + PATH_MAX, 1);
    if (words == NULL) {
        return RUBUS_ENOMEM;
    }
    char *text = words + PATH_MAX;
    memcpy(text, command, size);
    text[size] = '\0';
    threads_compiler found = {.words = words, .path = words, .origin = origin};
    bool whole = strchr(text, '/') != NULL && find_program(text, words);
    char *rest = whole ? text + size : text;
    const char *program = text;
    int count = 0;
    for (char *word; (word = strsep(&rest, BLANKS)) != NULL;) {
        if (*word == '\0') {
            continue;
        }
        if (count > THREADS_COMPILER_WORDS) {
            rubus_status st = missing(host, command, origin, "has too many arguments");
            host->free(host->ctx, words);
            return st;
        }
        if (count == 0 && !whole) {
            program = word;
        } else {
            found.lead += *word != '-' && found.lead == found.nword;
            found.word[found.nword++] = word;
        }
        count++;
    }
    if (!whole && !find_program(program, words)) {
        rubus_status st =
            missing(host, program, origin, "is not a program that can be run");
        host->free(host->ctx, words);
        return st;
    }
    *compiler = found;
    return RUBUS_OK;
}

/* The command in force, and where it comes from: the option, the compiler of configure,
 * or the first name that PATH has; NULL if there is none. */
static const char *choose_command(const rubus_host *host, const char **out_origin)
{
    char path[PATH_MAX];
    const char *option = host->option(host->ctx, "cc");
    if (option != NULL && option[strspn(option, BLANKS)] != '\0') {
        *out_origin = "RUBUS_CC";
        return option;
    }
#if defined(RUBUS_DEFAULT_CC)
    static const char standard[] = RUBUS_DEFAULT_CC;
    char program[sizeof standard];
    snprintf(program, sizeof program, "%s", standard);
    program[strcspn(program, BLANKS)] = '\0';
    if (find_program(program, path)) {
        *out_origin = "configured";
        return standard;
    }
#endif
    static const char *const names[] = {"cc", "gcc", "clang"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (find_program(names[i], path)) {
            *out_origin = "from PATH";
            return names[i];
        }
    }
    return NULL;
}

rubus_status threads_compiler_find(const rubus_host *host, threads_compiler *out_compiler)
{
    const char *origin = NULL;
    const char *command = choose_command(host, &origin);
    if (command == NULL) {
        return missing(host, "cc, gcc, clang", "in PATH", "are not to be found");
    }
    return take_command(host, command, origin, out_compiler);
}

void threads_compiler_fini(const rubus_host *host, threads_compiler *compiler)
{
    if (compiler->words != NULL) {
        host->free(host->ctx, compiler->words);
        compiler->words = NULL;
    }
}

void threads_compiler_describe(const rubus_host *host, char *out, size_t room)
{
    const char *origin = NULL;
    const char *command = choose_command(host, &origin);
    if (command == NULL) {
        snprintf(out, room, "no C compiler found");
    } else {
        snprintf(out, room, "C compiler %s (%s)", command, origin);
    }
}

/* --- who it is -------------------------------------------------------------------- */

/* A file: where it really is, and what an upgrade changes. */
static void add_file(threads_hash *hash, const char *path)
{
    char real[PATH_MAX];
    struct stat info;
    const char *name = realpath(path, real) != NULL ? real : path;
    threads_hash_text(hash, name);
    if (stat(name, &info) == 0) {
        const int64_t facts[] = {(int64_t)info.st_size, (int64_t)info.st_mtim.tv_sec,
                                 (int64_t)info.st_mtim.tv_nsec};
        threads_hash_add(hash, facts, sizeof facts);
    }
}

/* A key for the cache that stands for the program and the words before its flags. */
static void version_key(const threads_compiler *compiler, uint8_t key[32])
{
    threads_hash hash;
    threads_hash_init(&hash);
    threads_hash_text(&hash, VERSION_HEAD);
    add_file(&hash, compiler->path);
    for (int i = 0; i < compiler->nword; i++) {
        char path[PATH_MAX];
        threads_hash_text(&hash, compiler->word[i]);
        if (i < compiler->lead && find_program(compiler->word[i], path)) {
            add_file(&hash, path);
        }
    }
    for (int half = 0; half < 2; half++) {
        threads_hash end = threads_hash_end(&hash);
        memcpy(key + 16 * half, &end.a, 8);
        memcpy(key + 16 * half + 8, &end.b, 8);
        threads_hash_text(&hash, "half");
    }
}

/* The version as the cache has it; false if it is not there, or not whole. */
static bool recall_version(const rubus_host *host, const uint8_t key[32],
                           char out[VERSION_ROOM])
{
    int32_t fd = -1;
    if (host->cache_get(host->ctx, key, VERSION_SUFFIX, &fd) != RUBUS_OK || fd < 0) {
        return false;
    }
    size_t size = 0;
    char *text = threads_file_read(host, fd, VERSION_ROOM - 1, &size);
    close(fd);
    if (text == NULL) {
        return false;
    }
    size_t head = strlen(VERSION_HEAD);
    size_t tail = strlen(VERSION_TAIL);
    bool whole = size >= head + tail && memcmp(text, VERSION_HEAD, head) == 0 &&
                 memcmp(text + size - tail, VERSION_TAIL, tail) == 0;
    if (whole) {
        memcpy(out, text, size + 1);
    }
    host->free(host->ctx, text);
    return whole;
}

static void remember_version(const rubus_host *host, const uint8_t key[32],
                             const char *version)
{
    int fd = threads_file_create("rubus-version");
    if (fd < 0) {
        return;
    }
    // A cache that cannot be written is no error: it is asked again next time.
    if (threads_file_write(fd, version, strlen(version))) {
        (void)host->cache_put(host->ctx, key, VERSION_SUFFIX, fd);
    }
    close(fd);
}

/* Runs the compiler with --version. Whoever cannot answer has an empty version. */
static rubus_status ask_version(const rubus_host *host, const threads_compiler *compiler,
                                char out[VERSION_ROOM])
{
    const char *argv[THREADS_COMPILER_WORDS + 3];
    int argc = 0;
    argv[argc++] = compiler->path;
    for (int i = 0; i < compiler->lead; i++) {
        argv[argc++] = compiler->word[i];
    }
    argv[argc++] = "--version";
    argv[argc] = NULL;
    snprintf(out, VERSION_ROOM, "%s%s", VERSION_HEAD, VERSION_TAIL);
    int in_fd = threads_file_create("rubus-nothing");
    int text_fd = threads_file_create("rubus-version");
    rubus_status st = RUBUS_OK;
    if (in_fd >= 0 && text_fd >= 0) {
        threads_spawn_end end;
        st = threads_spawn(host, compiler->path, argv, in_fd, text_fd, in_fd, &end);
        size_t size = 0;
        char *text =
            st == RUBUS_OK ? threads_file_read(host, text_fd, 1 << 20, &size) : NULL;
        if (text != NULL) {
            snprintf(out, VERSION_ROOM, "%s%.1200s%s", VERSION_HEAD, text, VERSION_TAIL);
            host->free(host->ctx, text);
        }
    }
    if (in_fd >= 0) {
        close(in_fd);
    }
    if (text_fd >= 0) {
        close(text_fd);
    }
    return st;
}

static threads_compiler_kind kind_of(const char *version)
{
    if (strstr(version, "clang") != NULL) {
        return THREADS_COMPILER_CLANG;
    }
    if (strstr(version, "Free Software Foundation") != NULL) {
        return THREADS_COMPILER_GCC;
    }
    return THREADS_COMPILER_OTHER;
}

rubus_status threads_compiler_identify(const rubus_host *host, threads_compiler *compiler)
{
    uint8_t key[32];
    char version[VERSION_ROOM];
    char features[8192];
    version_key(compiler, key);
    if (!recall_version(host, key, version)) {
        rubus_status st = ask_version(host, compiler, version);
        if (st != RUBUS_OK) {
            return st;
        }
        remember_version(host, key, version);
    }
    compiler->kind = kind_of(version);
    threads_hash hash;
    threads_hash_init(&hash);
    threads_hash_text(&hash, FORM);
    threads_hash_add(&hash, key, sizeof key);
    threads_hash_text(&hash, version);
    threads_hash_add(&hash, features, threads_cpu_features(features, sizeof features));
    compiler->id = threads_hash_end(&hash);
    return RUBUS_OK;
}
