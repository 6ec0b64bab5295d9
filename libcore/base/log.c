/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: silent unless RUBUS_LOG or a function of the host program asks for it.
 *
 * RUBUS_LOG is words separated by commas, semicolons or blanks. A level (off, error,
 * warning, info, debug, or 0 to 4) is for everything; a topic is shown in full;
 * LEVEL:TOPIC is that topic at that level, and so are the topics after it: `info`,
 * `load`, `debug:load,cache`.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rubus/context.h>

enum { NRULE = 32, TOPIC_ROOM = 32, LINE_ROOM = 4096 };

static const char *const level_names[] = {"off", "error", "warning", "info", "debug"};
enum { NLEVEL = sizeof level_names / sizeof level_names[0] };

/* Topics of the library. A plugin's lines have its name as their topic. */
static const char *const topic_names[] = {"load",   "cache",    "context", "kernel",
                                          "launch", "validate", "memory",  "solve",
                                          "log",    "threads",  "vulkan",  "reference"};
enum { NTOPIC = sizeof topic_names / sizeof topic_names[0] };

typedef struct rule {
    char topic[TOPIC_ROOM];
    int level;
} rule;

/* Guards what follows. Taken alone, and never held while the host's function runs. */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static rubus_log_function log_function;
static void *log_user;
static bool rules_known;
static int general_level;
static rule rules[NRULE];
static int nrule;
/* The highest level that anything is shown at, so that a line nobody wants costs one
 * load; -1: to be found out. Written under the lock. */
static _Atomic int ceiling = -1;

static void write_line(const char *line, size_t n)
{
    while (n > 0) {
        const ssize_t done = write(STDERR_FILENO, line, n);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return; // nobody reads: a log line is not worth a failure
        }
        line += done;
        n -= (size_t)done;
    }
}

static void to_stderr(int level, const char *topic, const char *text)
{
    // one write for a line, so that lines of several threads do not mix
    char line[LINE_ROOM];
    int n = rubus__snprintf(line, sizeof line, "rubus: %s: %s: %s", level_names[level],
                            topic, text);
    if (n < 0) {
        return;
    }
    if (n > (int)sizeof line - 2) {
        n = (int)sizeof line - 2;
    }
    line[n] = '\n';
    const int errno_before = errno;
    write_line(line, (size_t)n + 1);
    errno = errno_before;
}

/* -1 if the word names no level. */
static int level_of(const char *word)
{
    if (word[0] >= '0' && word[0] < '0' + NLEVEL && word[1] == '\0') {
        return word[0] - '0';
    }
    if (rubus__equal_nocase(word, "warn")) {
        return RUBUS__LOG_WARNING;
    }
    for (int i = 0; i < NLEVEL; i++) {
        if (rubus__equal_nocase(word, level_names[i])) {
            return i;
        }
    }
    return -1;
}

static bool is_topic(const char *word)
{
    for (int i = 0; i < NTOPIC; i++) {
        if (rubus__equal_nocase(word, topic_names[i])) {
            return true;
        }
    }
    return false;
}

static void complain(const char *word, const char *what)
{
    const char *words[NLEVEL + NTOPIC];
    memcpy(words, level_names, sizeof level_names);
    memcpy(words + NLEVEL, topic_names, sizeof topic_names);
    const char *near = rubus__nearest(word, words, NLEVEL + NTOPIC);
    char text[256];
    rubus__snprintf(text, sizeof text, "RUBUS_LOG: '%s' %s%s%s%s", word, what,
                    near == NULL ? "" : " (did you mean '", near == NULL ? "" : near,
                    near == NULL ? "" : "'?)");
    to_stderr(RUBUS__LOG_WARNING, "log", text);
}

static void rule_add(const char *topic, int level)
{
    if (nrule < NRULE) {
        rubus__snprintf(rules[nrule].topic, TOPIC_ROOM, "%s", topic);
        rules[nrule].level = level;
        nrule++;
    }
}

/* One word; *topic_level is the level of topics until the next LEVEL:TOPIC. */
static void read_word(char *word, int *topic_level)
{
    char *topic = word;
    char *colon = strchr(word, ':');
    if (colon != NULL) {
        *colon = '\0';
        const int level = level_of(word);
        if (level < 0) {
            complain(word, "is no level: off, error, warning, info, debug or 0 to 4");
        } else {
            *topic_level = level;
        }
        topic = colon + 1;
    } else {
        const int level = level_of(word);
        if (level >= 0) {
            general_level = level;
            return;
        }
    }
    if (topic[0] == '\0') {
        return;
    }
    if (!is_topic(topic)) {
        complain(topic,
                 "is no level and no topic of the library; it is taken for the name "
                 "of a plugin");
    }
    rule_add(topic, *topic_level);
}

static void rules_read(void)
{
    if (rules_known) {
        return;
    }
    rules_known = true;
    general_level = 0;
    nrule = 0;
    const char *value = rubus__env(RUBUS__ENV_LOG);
    int topic_level = RUBUS__LOG_DEBUG;
    const char *at = value == NULL ? "" : value;
    while (*at != '\0') {
        at += strspn(at, ",; \t\n");
        const size_t n = strcspn(at, ",; \t\n");
        char word[2 * TOPIC_ROOM];
        rubus__snprintf(word, sizeof word, "%.*s", (int)(n < 256 ? n : 256), at);
        if (word[0] != '\0') {
            read_word(word, &topic_level);
        }
        at += n;
    }
}

static int level_wanted(const char *topic)
{
    int level = general_level;
    for (int i = 0; i < nrule; i++) {
        if (rubus__equal_nocase(rules[i].topic, topic)) {
            level = rules[i].level;
        }
    }
    return level;
}

/* With the lock held. */
static void ceiling_find(void)
{
    int highest = log_function != NULL ? RUBUS__LOG_DEBUG : general_level;
    for (int i = 0; i < nrule; i++) {
        highest = rules[i].level > highest ? rules[i].level : highest;
    }
    atomic_store(&ceiling, highest);
}

bool rubus__log_on(int level, const char *topic)
{
    const int highest = atomic_load_explicit(&ceiling, memory_order_relaxed);
    if (highest >= 0 && level > highest) {
        return false;
    }
    pthread_mutex_lock(&log_lock);
    rules_read();
    ceiling_find();
    const bool on = log_function != NULL || level <= level_wanted(topic);
    pthread_mutex_unlock(&log_lock);
    return on;
}

void rubus__log(int level, const char *topic, const char *fmt, ...)
{
    if (level < RUBUS__LOG_ERROR || level > RUBUS__LOG_DEBUG) {
        level = level < RUBUS__LOG_ERROR ? RUBUS__LOG_ERROR : RUBUS__LOG_DEBUG;
    }
    if (!rubus__log_on(level, topic)) {
        return;
    }
    char text[LINE_ROOM];
    va_list args;
    va_start(args, fmt);
    const int n = rubus__vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n < 0) {
        return;
    }
    pthread_mutex_lock(&log_lock);
    const rubus_log_function function = log_function;
    void *user = log_user;
    pthread_mutex_unlock(&log_lock);
    if (function != NULL) {
        function(user, level, topic, text);
    } else {
        to_stderr(level, topic, text);
    }
}

RUBUS_API void rubus_log_set(rubus_log_function function, void *user)
{
    pthread_mutex_lock(&log_lock);
    log_function = function;
    log_user = user;
    atomic_store(&ceiling, -1);
    pthread_mutex_unlock(&log_lock);
}

void rubus__log_reset_for_test(void)
{
    pthread_mutex_lock(&log_lock);
    rules_known = false;
    atomic_store(&ceiling, -1);
    pthread_mutex_unlock(&log_lock);
}
