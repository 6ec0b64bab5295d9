/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls the C compiler: text on its input, a shared object in a file without a name as
 * its output. The flags give vector code in half the time of -O3, and keep the arithmetic
 * of the kernel language: no contraction, no reassociation, ints that wrap around.
 */
#include "config.h"

#include "plugins/threads/compiler.h"

#include "plugins/threads/spawn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARGUMENTS (THREADS_COMPILER_WORDS + 48)
/* Lines of the compiler's messages that go into ours. */
#define MESSAGE_LINES 20
#define MESSAGE_ROOM 4096

#if defined(__x86_64__) || defined(__i386__)
#define FOR_THIS_PROCESSOR "-march=native", "-mprefer-vector-width=256"
#elif defined(__powerpc64__)
#define FOR_THIS_PROCESSOR "-mcpu=native"
#elif defined(__aarch64__)
#define FOR_THIS_PROCESSOR "-mcpu=native"
#else
#define FOR_THIS_PROCESSOR "-O2"
#endif

#define MEANING                                                                          \
    "-fno-math-errno", "-fno-trapping-math", "-fwrapv", "-fno-strict-aliasing", "-w",    \
        "-shared", "-fPIC"

static const char *const gcc_flags[] = {"-pipe",
                                        "-O2",
                                        "-ftree-loop-vectorize",
                                        "-fno-tree-slp-vectorize",
                                        "-fvect-cost-model=dynamic",
                                        "--param",
                                        "vect-epilogues-nomask=0",
                                        "-funswitch-loops",
                                        FOR_THIS_PROCESSOR,
                                        MEANING,
                                        NULL};
static const char *const clang_flags[] = {
    "-O3", "-fno-slp-vectorize", "-fbracket-depth=4096", FOR_THIS_PROCESSOR, MEANING,
    NULL};
static const char *const other_flags[] = {"-O2",     "-fwrapv", "-fno-strict-aliasing",
                                          "-shared", "-fPIC",   NULL};
static const char *const bare_flags[] = {"-O2", "-shared", "-fPIC", NULL};

/* Arguments of one call; attempt 0 is meant for this compiler, later ones ask for less.
 * */
static void fill_arguments(const threads_compiler *compiler, bool fast, int attempt,
                           const char *argv[ARGUMENTS])
{
    static const char *const *const first[] = {gcc_flags, clang_flags, other_flags};
    const char *const *flags = attempt == 0   ? first[compiler->kind]
                               : attempt == 1 ? other_flags
                                              : bare_flags;
    int argc = 0;
    argv[argc++] = compiler->path;
    for (int i = 0; i < compiler->lead; i++) {
        argv[argc++] = compiler->word[i];
    }
    for (; *flags != NULL; flags++) {
        argv[argc++] = *flags;
    }
    if (attempt < 2) {
        argv[argc++] = fast ? "-ffp-contract=fast" : "-ffp-contract=off";
    }
    for (int i = compiler->lead; i < compiler->nword; i++) {
        argv[argc++] = compiler->word[i];
    }
    static const char *const end[] = {"-x", "c", "-", "-o", THREADS_SPAWN_OUTPUT, "-lm"};
    for (size_t i = 0; i < sizeof end / sizeof *end; i++) {
        argv[argc++] = end[i];
    }
    argv[argc] = NULL;
}

/* How the call ended, in words. */
static void describe_end(const threads_spawn_end *end, char *out, size_t room)
{
    if (end->signalled != 0) {
        snprintf(out, room, "was ended by signal %d", end->signalled);
    } else if (end->known && end->exited != 0) {
        snprintf(out, room, "ended with status %d", end->exited);
    } else {
        snprintf(out, room, "made no object");
    }
}

/* The first lines of what the compiler wrote. */
static void read_message(const rubus_host *host, int fd, size_t max,
                         char out[MESSAGE_ROOM])
{
    size_t size = 0;
    char *text = threads_file_read(host, fd, 64 << 20, &size);
    size_t keep = 0;
    if (text != NULL && size > max) {
        text[max] = '\0';
    }
    for (int line = 0; text != NULL && line < MESSAGE_LINES && text[keep] != '\0';
         line++) {
        keep += strcspn(text + keep, "\n");
        keep += text[keep] == '\n';
    }
    while (keep > 0 && (text[keep - 1] == '\n' || text[keep - 1] == ' ')) {
        keep--;
    }
    snprintf(out, MESSAGE_ROOM, "%.*s",
             (int)(keep < MESSAGE_ROOM ? keep : MESSAGE_ROOM - 1),
             text != NULL ? text : "");
    if (text != NULL) {
        host->free(host->ctx, text);
    }
}

static size_t size_of(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && info.st_size > 0 ? (size_t)info.st_size : 0;
}

/* What one module needs for its calls. */
typedef struct call {
    const rubus_host *host;
    const threads_compiler *compiler;
    const char *module;
    bool fast;
    int in_fd;
    int text_fd;
    int out_fd;
    size_t message_size; // of the first attempt
} call;

/* A compiler that ran and did not find its assembler or linker: another compiler is no
 * cure for that. */
static bool lacks_tools(const char *message)
{
    static const char *const words[] = {"cannot execute", "unable to execute",
                                        "cannot find 'ld'", "cannot find 'as'"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(message, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static rubus_status report(const call *c, const threads_spawn_end *end)
{
    const rubus_host *host = c->host;
    char how[64];
    char message[MESSAGE_ROOM];
    if (end->error != 0) {
        return host->fail(host->ctx, RUBUS_EUNSUPPORTED,
                          "module %s: the C compiler '%s' (%s) could not be started: %s; "
                          "install one (on Debian: apt install gcc), or give its path in "
                          "RUBUS_CC",
                          c->module, c->compiler->path, c->compiler->origin,
                          strerror(end->error));
    }
    describe_end(end, how, sizeof how);
    read_message(host, c->text_fd, c->message_size, message);
    return host->fail(
        host->ctx, RUBUS_ECOMPILE, "module %s: the C compiler '%s' (%s) %s%s%s; %s",
        c->module, c->compiler->path, c->compiler->origin, how,
        message[0] != '\0' ? ": " : " and said nothing", message,
        lacks_tools(message)
            ? "it looks for its assembler and linker in PATH: put their folder there "
              "(/usr/bin, as a rule), or install them (on Debian: apt install binutils)"
            : "RUBUS_CC chooses another one (a program and plain arguments, no shell)");
}

/* Calls with fewer and fewer flags, as some compilers know few; the message is that of
 * the first call. */
static rubus_status call_compiler(call *c)
{
    rubus_status st = RUBUS_OK;
    threads_spawn_end first = {0};
    for (int attempt = 0; attempt < 3; attempt++) {
        const char *argv[ARGUMENTS];
        threads_spawn_end end;
        fill_arguments(c->compiler, c->fast, attempt, argv);
        st = threads_spawn(c->host, c->compiler->path, argv, c->in_fd, c->text_fd,
                           c->out_fd, &end);
        if (st != RUBUS_OK) {
            return st;
        }
        if (end.error == 0 && (!end.known || end.exited == 0) && size_of(c->out_fd) > 0) {
            if (attempt > 0) {
                c->host->log(c->host->ctx, 2,
                             "the C compiler refused its flags; kernels may be slow");
            }
            return RUBUS_OK;
        }
        if (attempt == 0) {
            first = end;
            c->message_size = size_of(c->text_fd);
        }
        if (end.error != 0 || ftruncate(c->out_fd, 0) != 0) {
            break;
        }
    }
    return report(c, &first);
}

rubus_status threads_compiler_run(const rubus_host *host,
                                  const threads_compiler *compiler, const char *module,
                                  const char *text, uint64_t size, bool fast, int *out_fd)
{
    call c = {.host = host, .compiler = compiler, .module = module, .fast = fast};
    c.in_fd = threads_file_create("rubus-source");
    c.text_fd = threads_file_create("rubus-messages");
    c.out_fd = threads_file_create("rubus-kernels");
    rubus_status st;
    if (c.in_fd < 0 || c.text_fd < 0 || c.out_fd < 0 ||
        !threads_file_write(c.in_fd, text, size)) {
        st = host->fail(host->ctx, RUBUS_EIO,
                        "module %s: no file in memory for the compiler: %s", module,
                        strerror(errno));
    } else {
        st = call_compiler(&c);
    }
    if (c.in_fd >= 0) {
        close(c.in_fd);
    }
    if (c.text_fd >= 0) {
        close(c.text_fd);
    }
    if (st == RUBUS_OK) {
        *out_fd = c.out_fd;
    } else if (c.out_fd >= 0) {
        close(c.out_fd);
    }
    return st;
}
