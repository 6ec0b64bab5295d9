/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs each check in a child process: a process group of its own, output caught in a
 * file, a limit of time. What the child found out comes back in shared memory; a child
 * that ends before it said so, by a signal, by exit or too late, has failed.
 */
#include "config.h"

#include "conform.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

enum { OUTPUT_SHOWN = 1500 };

/* What a child leaves for its parent. */
typedef struct record {
    atomic_int done;   // the body returned
    atomic_int failed; // reason is being written, or is there
    char reason[CONFORM_TEXT];
    conform_facts facts; // of a survey
} record;

/* Of the child that runs a check. */
static record *own_record;
static const conform_facts *own_facts;
static uint64_t own_seed;
static _Thread_local char own_words[256];

/* --- in the child ----------------------------------------------------------------- */

void conform_fail(const char *format, ...)
{
    // The first failure counts; a second thread only ends the process later than that.
    if (atomic_exchange(&own_record->failed, 1) != 0) {
        for (;;) {
            pause();
        }
    }
    int used = snprintf(own_record->reason, CONFORM_TEXT, "%s", own_words);
    va_list args;
    va_start(args, format);
    vsnprintf(own_record->reason + used, (size_t)(CONFORM_TEXT - used), format, args);
    va_end(args);
    _exit(1);
}

void conform_ok_(rubus_status st, const char *call)
{
    if (st != RUBUS_OK) {
        conform_fail("%.200s: %s: %s", call, rubus_status_name(st), rubus_error_text());
    }
}

const conform_facts *conform_facts_now(void)
{
    return own_facts;
}

uint64_t conform_seed(void)
{
    return own_seed;
}

void conform_say(const char *format, ...)
{
    own_words[0] = '\0';
    if (format == NULL) {
        return;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(own_words, sizeof own_words, format, args);
    va_end(args);
}

double conform_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* --- waiting ---------------------------------------------------------------------- */

/* Waits for the child; kills it after `seconds`. SIGCHLD is blocked. Gives its wait
 * status; *out_late tells that it was killed. */
static int wait_for(pid_t pid, double seconds, bool *out_late)
{
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    const double end = conform_clock() + seconds;
    int status = 0;
    *out_late = false;
    for (;;) {
        const pid_t got = waitpid(pid, &status, WNOHANG);
        if (got == pid || (got < 0 && errno != EINTR)) {
            return status;
        }
        const double left = end - conform_clock();
        if (left <= 0 || conform_interrupted()) {
            *out_late = true;
            kill(-pid, SIGKILL);
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return status;
        }
        const double slice = left < 0.25 ? left : 0.25;
        const struct timespec pause_time = {0, (long)(slice * 1e9)};
        sigtimedwait(&child, NULL, &pause_time);
    }
}

int conform_in_child(void (*body)(void *), void *argument, double seconds)
{
    sigset_t child;
    sigset_t before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    const pid_t pid = fork();
    conform_true(pid >= 0, "fork: %s", strerror(errno));
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        body(argument);
        exit(0);
    }
    bool late = false;
    const int status = wait_for(pid, seconds, &late);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (atomic_load(&own_record->failed) != 0) {
        _exit(1); // the text is the child's
    }
    conform_true(!late, "a child process did not end within %.0f s", seconds);
    return status;
}

/* --- in the parent ---------------------------------------------------------------- */

static void set_environment(const conform_facts *facts)
{
    // What these ask for would come out on stderr, or change what is examined.
    unsetenv("RUBUS_LOG");
    unsetenv("RUBUS_VALIDATE");
    unsetenv("RUBUS_BACKEND");
    if (facts->folder[0] != '\0') {
        setenv("RUBUS_PLUGIN_PATH", facts->folder, 1);
    }
}

typedef struct job {
    const conform_check *check; // NULL: a survey
    const conform_facts *facts;
    uint64_t seed;
} job;

_Noreturn static void run_in_child(const job *j, record *r, FILE *output)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    conform_signals_default();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    const bool broken = j->check != NULL && (j->check->needs & CONFORM_BROKEN_TEXT) != 0;
    FILE *errors = broken ? tmpfile() : NULL;
    if (output == NULL || dup2(fileno(output), STDOUT_FILENO) < 0 ||
        dup2(fileno(errors != NULL ? errors : output), STDERR_FILENO) < 0) {
        _exit(1);
    }
    set_environment(j->facts);
    own_record = r;
    own_facts = j->check == NULL ? &r->facts : j->facts;
    own_seed = j->seed;
    if (j->check == NULL) {
        conform_facts_survey(&r->facts);
    } else {
        j->check->run();
    }
    conform_say(NULL);
    rubus_shutdown();
    fflush(NULL);
    atomic_store(&r->done, 1);
    exit(0);
}

static void put_output(FILE *output, conform_result *result)
{
    char text[OUTPUT_SHOWN + 1];
    rewind(output);
    const size_t n = fread(text, 1, OUTPUT_SHOWN, output);
    if (n == 0) {
        return;
    }
    text[n] = '\0';
    const bool had = result->outcome == CONFORM_FAILED;
    const size_t used = strlen(result->reason);
    snprintf(result->reason + used, sizeof result->reason - used,
             "%sit printed, which a plugin never does: %s", had ? "; also: " : "", text);
    result->outcome = CONFORM_FAILED;
}

static void judge(const record *r, int status, bool late, double limit,
                  conform_result *result)
{
    char *reason = result->reason;
    const size_t room = sizeof result->reason;
    result->outcome = CONFORM_FAILED;
    if (atomic_load(&r->failed) != 0) {
        snprintf(reason, room, "%s", r->reason);
    } else if (late) {
        snprintf(reason, room, "still running after %.0f s", limit);
    } else if (WIFSIGNALED(status)) {
        snprintf(reason, room, "the process was ended by signal %d (%s)%s",
                 WTERMSIG(status), strsignal(WTERMSIG(status)),
                 atomic_load(&r->done) != 0 ? " when it exited" : "");
    } else if (atomic_load(&r->done) == 0) {
        snprintf(reason, room,
                 "something ended the process, with status %d; a plugin never exits",
                 WEXITSTATUS(status));
    } else if (WEXITSTATUS(status) != 0) {
        snprintf(reason, room, "status %d when the process exited", WEXITSTATUS(status));
    } else {
        result->outcome = CONFORM_OK;
    }
}

static void run_job(const job *j, double limit, conform_facts *out_facts,
                    conform_result *result)
{
    memset(result, 0, sizeof *result);
    result->outcome = CONFORM_FAILED;
    result->seed = j->seed;
    record *r =
        mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FILE *output = tmpfile();
    if (r == MAP_FAILED || output == NULL) {
        snprintf(result->reason, sizeof result->reason, "no room for a child: %s",
                 strerror(errno));
        return;
    }
    r->facts = *j->facts;
    sigset_t child;
    sigset_t before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    fflush(NULL);
    const double start = conform_clock();
    const pid_t pid = fork();
    if (pid == 0) {
        run_in_child(j, r, output);
    }
    if (pid < 0) {
        snprintf(result->reason, sizeof result->reason, "fork: %s", strerror(errno));
    } else {
        setpgid(pid, pid);
        bool late = false;
        const int status = wait_for(pid, limit, &late);
        kill(-pid, SIGKILL); // what it may have started
        judge(r, status, late, limit, result);
        put_output(output, result);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    result->seconds = conform_clock() - start;
    if (out_facts != NULL) {
        *out_facts = r->facts;
    }
    fclose(output);
    munmap(r, sizeof *r);
}

uint64_t conform_seed_of(const char *name, uint64_t seed)
{
    uint64_t hash = 0xCBF29CE484222325u ^ seed;
    for (; *name != '\0'; name++) {
        hash = (hash ^ (unsigned char)*name) * 0x100000001B3u;
    }
    return hash >> 1; // fits a signed number, for readers of the certificate
}

void conform_run(const conform_check *check, const conform_facts *facts, uint64_t seed,
                 double factor, conform_result *result)
{
    const char *skip = conform_skip_reason(facts, check->needs);
    const job j = {check, facts, conform_seed_of(check->name, seed)};
    if (skip == NULL) {
        run_job(&j, factor * check->seconds, NULL, result);
        return;
    }
    memset(result, 0, sizeof *result);
    result->outcome = CONFORM_SKIPPED;
    result->seed = j.seed;
    snprintf(result->reason, sizeof result->reason, "%s", skip);
}

void conform_survey(conform_facts *facts, double factor)
{
    enum { SURVEY_SECONDS = 60 };
    const job j = {NULL, facts, 0};
    conform_facts found;
    conform_result result;
    run_job(&j, factor * SURVEY_SECONDS, &found, &result);
    *facts = found;
    if (result.outcome != CONFORM_OK) {
        facts->opened = false;
        snprintf(facts->reason, sizeof facts->reason, "%s", result.reason);
    }
}
